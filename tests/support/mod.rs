//! The stand-in of GitHub and the cases that it serves.
