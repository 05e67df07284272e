//! Every change is read as it is written, whatever people wrote into it.
