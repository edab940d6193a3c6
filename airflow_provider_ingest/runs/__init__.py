"""The vocabulary: statuses, counts, outcomes, frames, records, events and ports."""
