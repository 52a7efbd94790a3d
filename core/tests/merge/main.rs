//! The merge as users meet it: M1-M12 of the reference hub's list, the merging cases of the OpenSubsonic bug reports (by their
//! numbers), and the laws that hold for any library (R2, R3). M10 to M12 have no text of their own there; here they are
//! order (M10), bad rows (M11) and the whole library kept consistent (M12).

mod builder;
mod identity;
mod ids;
mod laws;
mod shown;
