//! The language of conditions and texts: what of Jinja there is, and the one formatter through which
//! every interpolated value goes.
//!
//! Conditions are Jinja expressions, texts hold `{{ expression }}`; loops stand in the YAML. There are no
//! statements, no functions, and only the filters and tests below: all of them depend on nothing but
//! their input, and none passes over an attribute that is not there (Jinja's own `selectattr` does).

use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State, UndefinedBehavior};

use super::escape;
use crate::limits;

/// Filters by name, with what each is for.
pub(super) const FILTERS: &[(&str, &str)] = &[
    ("default", "`x | default(y)`: x, or y where x is none or not there"),
    ("length", "how many elements a list has"),
    ("lower", "a text in lower case, to compare logins"),
    ("map", "`list | map('field')`: that field of each element"),
    ("paste", "a text, or a list of them, as a block of lines to paste; in `fix` only"),
    ("plural", "`3 | plural('job', 'jobs')`: the number with the right word"),
    ("prose", "a reason that the program wrote, as words instead of a code span"),
    ("rejectattr", "`list | rejectattr('field')`: the elements of which the field is false"),
    ("selectattr", "`list | selectattr('field')`: the elements of which the field is true"),
    ("short", "the first seven characters of a commit"),
];

/// Tests by name, with what each is for.
pub(super) const TESTS: &[(&str, &str)] = &[
    ("defined", "`x.key is defined`: whether an open mapping has the key"),
    ("endingwith", "`x is endingwith(y)`"),
    ("none", "`x is none`: whether there is no value"),
    ("startingwith", "`x is startingwith(y)`"),
];

/// Elements of a list that a text shows; the rest is counted.
const SHOWN_ELEMENTS: usize = 20;

/// The environment in which every expression and text of a rule is evaluated.
pub(super) fn environment() -> Environment<'static> {
    let mut env = Environment::empty();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_fuel(Some(limits::RULE_FUEL));
    env.set_formatter(format_value);
    env.add_filter(
        "default",
        |value: Value, other: Value| {
            if value.is_undefined() || value.is_none() { other } else { value }
        },
    );
    env.add_filter("length", |value: Value| match value.kind() {
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => value
            .len()
            .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "the list has no length")),
        kind => Err(wrong_kind("length", kind)),
    });
    env.add_filter("lower", |value: &str| value.to_lowercase());
    env.add_filter("short", |value: &str| value.chars().take(7).collect::<String>());
    env.add_filter("map", |list: Value, field: &str| {
        list.try_iter()?.map(|item| attribute(&item, field)).collect::<Result<Vec<_>, _>>()
    });
    env.add_filter("selectattr", |list: Value, field: &str| keep(&list, field, true));
    env.add_filter("rejectattr", |list: Value, field: &str| keep(&list, field, false));
    env.add_filter("plural", |count: i64, one: &str, many: &str| {
        Value::from_safe_string(format!("{count} {}", if count == 1 { one } else { many }))
    });
    env.add_filter("prose", |value: &str| Value::from_safe_string(escape::prose(value)));
    env.add_filter("paste", paste);
    env.add_test("defined", |value: &Value| !value.is_undefined());
    env.add_test("none", |value: &Value| value.is_none());
    env.add_test("startingwith", |value: &str, start: &str| value.starts_with(start));
    env.add_test("endingwith", |value: &str, end: &str| value.ends_with(end));
    env
}

fn wrong_kind(filter: &str, kind: ValueKind) -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        format!("`{filter}` cannot take a value of kind {kind}"),
    )
}

/// An attribute that has to be there.
fn attribute(item: &Value, field: &str) -> Result<Value, Error> {
    let value = item.get_attr(field)?;
    if value.is_undefined() {
        return Err(Error::new(ErrorKind::UndefinedError, format!("no field `{field}`")));
    }
    Ok(value)
}

fn keep(list: &Value, field: &str, wanted: bool) -> Result<Vec<Value>, Error> {
    let mut kept = Vec::new();
    for item in list.try_iter()? {
        let value = attribute(&item, field)?;
        if value.kind() != ValueKind::Bool {
            return Err(wrong_kind("selectattr", value.kind()));
        }
        if value.is_true() == wanted {
            kept.push(item);
        }
    }
    Ok(kept)
}

fn paste(value: Value) -> Result<Value, Error> {
    let lines: Vec<Value> = match value.kind() {
        ValueKind::String => vec![value],
        ValueKind::Seq | ValueKind::Iterable => value.try_iter()?.collect(),
        kind => return Err(wrong_kind("paste", kind)),
    };
    let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
    let lines = lines.ok_or_else(|| wrong_kind("paste", ValueKind::Undefined))?;
    Ok(Value::from_safe_string(escape::paste(lines)))
}

/// The one way by which a value gets into a text.
fn format_value(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let shown = match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Vec<Value> = value.try_iter()?.collect();
            let mut shown = items
                .iter()
                .take(SHOWN_ELEMENTS)
                .map(scalar)
                .collect::<Result<Vec<_>, _>>()?
                .join(", ");
            if items.len() > SHOWN_ELEMENTS {
                shown.push_str(&format!(" and {} more", items.len() - SHOWN_ELEMENTS));
            }
            shown
        }
        _ => scalar(value)?,
    };
    Ok(out.write_str(&shown)?)
}

fn scalar(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Bool => Ok(value.is_true().to_string()),
        ValueKind::Number => Ok(value.to_string()),
        // Safe strings come from `plural`, `prose` and `paste` only: there is no `safe` filter.
        ValueKind::String if value.is_safe() => Ok(value.to_string()),
        ValueKind::String => Ok(escape::code_span(value.as_str().unwrap_or_default())),
        kind => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("a text cannot show a value of kind {kind}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::*;

    fn render(text: &str) -> Result<String, String> {
        let context = context! {
            name => "a`b", count => 3, list => vec!["x", "y"], nothing => (), truth => true,
            rows => vec![context! { ok => true, name => "p" }, context! { ok => false, name => "q" }],
        };
        environment().render_str(text, context).map_err(|error| error.to_string())
    }

    #[test]
    fn every_value_goes_through_the_formatter() {
        for (text, shown) in [
            ("{{ name }}", "``a`b``"),
            ("{{ name ~ '<!--' }}", "``a`b<! --``"),
            ("{{ 'literal' }}", "`literal`"),
            ("{{ count }} {{ truth }}", "3 true"),
            ("{{ list }}", "`x`, `y`"),
            ("{{ count | plural('job', 'jobs') }}", "3 jobs"),
            ("{{ 1 | plural('job', 'jobs') }}", "1 job"),
            ("{{ 'see @me' | prose }}", "see `@me`"),
            ("{{ nothing | default('none') }}", "`none`"),
            ("{{ rows | selectattr('ok') | map('name') }}", "`p`"),
            ("{{ rows | rejectattr('ok') | length }}", "1"),
            ("{{ list | paste }}", "\n```\nx\ny\n```\n"),
        ] {
            assert_eq!(render(text).as_deref(), Ok(shown), "{text}");
        }
    }

    #[test]
    fn nothing_is_shown_of_what_is_not_there() {
        for text in [
            "{{ nothing }}",
            "{{ nope }}",
            "{{ rows }}",
            "{{ rows | map('nope') }}",
            "{{ rows | selectattr('nope') }}",
            "{{ rows | selectattr('name') }}",
            "{{ nope or true }}",
            "{{ name | safe }}",
            "{{ range(3) }}",
            "{{ count | length }}",
        ] {
            assert!(render(text).is_err(), "{text} gave {:?}", render(text));
        }
    }

    #[test]
    fn long_lists_are_counted() {
        let env = environment();
        let shown = env.render_str("{{ l }}", context! { l => vec!["x"; 23] }).unwrap();
        assert!(shown.ends_with("`x` and 3 more"), "{shown}");
    }

    #[test]
    fn every_name_of_the_tables_exists() {
        let env = environment();
        for (name, _) in FILTERS {
            let error = env.render_str(&format!("{{{{ none | {name} }}}}"), ()).err();
            assert!(error.is_none_or(|e| e.kind() != ErrorKind::UnknownFilter), "{name}");
        }
        for (name, _) in TESTS {
            let error = env.render_str(&format!("{{{{ none is {name} }}}}"), ()).err();
            assert!(error.is_none_or(|e| e.kind() != ErrorKind::UnknownTest), "{name}");
        }
    }
}
