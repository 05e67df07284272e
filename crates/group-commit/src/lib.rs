//! A bounded queue and one writer thread that turns waiting commands into shared commits.
