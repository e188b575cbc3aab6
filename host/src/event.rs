//! One event as an agent sent it: its original bytes, and the few fields that the host reads.
