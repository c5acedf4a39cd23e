//! What somebody needs to know who opened a pull request: who can sign it off, and with what.

use super::in_order::in_order;
use super::owners::ownership;
use super::{Context, checklist, pr};
use crate::facts::{Missing, Origin, OwnedPath};
use crate::verdict::{Guide, Signers};

/// Who can sign a pull request off, and the checklist to do it with; `None` where the scope gate asks
/// for no sign-off. It needs no sign-off to be there.
///
/// # Errors
/// What is missing, and whose lack that is: a checklist that is not on the default branch is the
/// repository's, a read that fails is ours.
pub async fn guide(context: &Context<'_>) -> Result<Option<Guide>, Missing> {
    let (pull, ownership, (document, commit)) =
        in_order!(pr::pull(context), ownership(context), checklist::current(context))?;
    if !ownership.scope.required {
        return Ok(None);
    }
    let heading = &context.profile.settings.template.heading;
    let template = context.signoffs.template_text(&document.text, heading).map_err(|error| {
        Missing::submission(format!("{} at {commit}: {error}", document.path))
            .with_fix("Mend the checklist document on the default branch.")
    })?;
    let checklist = Origin::file(&pr::web(context, &pull), &commit, &document.path, None);
    Ok(Some(Guide {
        number: context.number,
        signers: signers(&ownership.paths),
        codeowners: ownership.file,
        codeowners_url: ownership.origin.url,
        template,
        checklist: document.path,
        checklist_url: checklist.url,
        phrase: context.profile.settings.signoff.phrase.clone(),
    }))
}

/// The changed paths by who owns them, in the order of the first path of each.
///
/// `checks.md`, check 0: a path with owners of its own needs one of them. What only `*` matches is
/// content with anybody who stands in the file, so that it is named only where nothing else is.
fn signers(paths: &[OwnedPath]) -> Vec<Signers> {
    let owned = || paths.iter().filter(|path| !path.owners.is_empty());
    let specific: Vec<&OwnedPath> = owned().filter(|path| !path.catch_all).collect();
    let named = if specific.is_empty() { owned().collect() } else { specific };
    let mut groups: Vec<Signers> = Vec::new();
    for path in named {
        match groups.iter_mut().find(|group| group.owners == path.owners) {
            Some(group) => group.paths.push(path.path.clone()),
            None => {
                groups.push(Signers { paths: vec![path.path.clone()], owners: path.owners.clone() })
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::{Signers, signers};
    use crate::facts::{Origin, OriginKind, OwnedPath};

    fn path(path: &str, pattern: &str, owners: &[&str]) -> OwnedPath {
        OwnedPath {
            path: path.into(),
            pattern: pattern.into(),
            line: 1,
            owners: owners.iter().map(|owner| (*owner).to_owned()).collect(),
            catch_all: pattern == "*",
            signer_owns: false,
            undecidable: false,
            origin: Origin::new(OriginKind::File),
        }
    }

    fn group(paths: &[&str], owners: &[&str]) -> Signers {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Signers { paths: owned(paths), owners: owned(owners) }
    }

    #[test]
    fn paths_of_the_same_owners_are_one_group_and_what_anybody_may_sign_is_left_out() {
        let found = signers(&[
            path("a.yaml", "/a.yaml", &["@ada", "@org/team"]),
            path("b.md", "*", &["@org/core"]),
            path("c.yaml", "/c.yaml", &["@noor"]),
            path("d.yaml", "/d.yaml", &["@ada", "@org/team"]),
            path("e.txt", "/e.txt", &[]),
        ]);
        assert_eq!(
            found,
            [group(&["a.yaml", "d.yaml"], &["@ada", "@org/team"]), group(&["c.yaml"], &["@noor"])]
        );
    }

    #[test]
    fn where_nothing_has_owners_of_its_own_the_last_resort_is_named() {
        let found = signers(&[path("a", "*", &["@ada"]), path("b", "*", &["@ada"])]);
        assert_eq!(found, [group(&["a", "b"], &["@ada"])]);
        assert!(signers(&[path("a", "", &[])]).is_empty());
    }
}
