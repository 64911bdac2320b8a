//! Files that options name: they appear whole or not at all.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use fleetsim::error::Diagnostic;

/// Writes a file beside its place and renames it. What exists and is no plain file (a pipe,
/// `/dev/stdout`) is written to directly.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Box<Diagnostic>> {
    let wrong = |why: std::io::Error| {
        let message = format!("{} cannot be written: {why}", path.display());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let hint = match folder {
            Some(folder) if !folder.exists() => {
                format!("there is no folder {}; make it first", folder.display())
            }
            _ => "name another file, or look at its permissions".to_owned(),
        };
        Box::new(Diagnostic::error("file", message).hint(hint))
    };
    if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
        let mut file = fs::OpenOptions::new().write(true).open(path).map_err(wrong)?;
        return file.write_all(bytes).map_err(wrong);
    }
    // A link stays a link: what it points to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let beside = beside(path);
    fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path)).map_err(|why| {
        let _ = fs::remove_file(&beside);
        wrong(why)
    })
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_appear_whole_and_leave_nothing_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let wrong = write_whole(&folder.path().join("no/x.json"), b"").unwrap_err();
        assert!(wrong.hint.unwrap().contains("no folder"), "{}", wrong.message);
    }
}
