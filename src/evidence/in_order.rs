//! Several questions at once, and of several that fail the first one as they are written.
//!
//! `try_join!` gives the error that comes first in time. Which that is the network decides, and then
//! the same evidence would be missing for another reason in a second run or in a replay. So all are
//! waited for, which also puts all of their reads into the record.

use futures_util::future::join_all;

/// `try_join!`, but for the error.
macro_rules! in_order {
    ($($question:expr),+ $(,)?) => {
        $crate::evidence::in_order::FirstError::first_error(
            ::futures_util::join!($($question),+)
        )
    };
}
pub(super) use in_order;

/// `try_join_all`, but for the error.
pub(super) async fn all_in_order<T, E>(
    questions: impl IntoIterator<Item = impl Future<Output = Result<T, E>>>,
) -> Result<Vec<T>, E> {
    join_all(questions).await.into_iter().collect()
}

/// A tuple of results as a result of a tuple.
pub(super) trait FirstError {
    /// The tuple of what was found.
    type Found;
    /// Why the first of those that failed did.
    type Error;
    /// Everything that was found, or the first error from the left.
    fn first_error(self) -> Result<Self::Found, Self::Error>;
}

macro_rules! first_error {
    ($($part:ident)+) => {
        impl<Error, $($part),+> FirstError for ($(Result<$part, Error>,)+) {
            type Found = ($($part,)+);
            type Error = Error;

            #[expect(non_snake_case, reason = "each part is called like its type")]
            fn first_error(self) -> Result<Self::Found, Error> {
                let ($($part,)+) = self;
                Ok(($($part?,)+))
            }
        }
    };
}

first_error!(A B);
first_error!(A B C);
first_error!(A B C D);
first_error!(A B C D F);
first_error!(A B C D F G);
first_error!(A B C D F G H);
first_error!(A B C D F G H I);

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::future::{ready, try_join_all};

    use super::all_in_order;

    /// Ends at the second look, when what stands behind it has ended already.
    async fn late(answer: Result<i64, &str>) -> Result<i64, &str> {
        let mut looked = false;
        std::future::poll_fn(|context| {
            context.waker().wake_by_ref();
            if std::mem::replace(&mut looked, true) {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
        answer
    }

    fn ended<T>(question: impl Future<Output = T>) -> T {
        let mut question = std::pin::pin!(question);
        loop {
            if let Some(answer) = question.as_mut().now_or_never() {
                return answer;
            }
        }
    }

    #[test]
    fn the_first_error_is_the_first_as_written_however_late_it_comes() {
        let answers = || [late(Err("first")).boxed(), ready(Err("second")).boxed()];
        assert_eq!(ended(try_join_all(answers())), Err("second"), "what this is not");
        assert_eq!(ended(all_in_order(answers())), Err("first"));
        let [first, second] = answers();
        assert_eq!(ended(async { in_order!(ready(Ok(0)), first, second) }), Err("first"));
    }

    #[test]
    fn what_is_found_is_given_in_the_order_of_the_questions() {
        assert_eq!(
            ended(all_in_order([late(Ok(1)).boxed(), ready(Ok(2)).boxed()])),
            Ok(vec![1, 2])
        );
        let found: Result<_, &str> = ended(async { in_order!(late(Ok(1)), ready(Ok("two"))) });
        assert_eq!(found, Ok((1, "two")));
    }
}
