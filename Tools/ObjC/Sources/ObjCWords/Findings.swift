/// A place in a source file where a word of Objective-C stands.
package struct Finding: Hashable, Sendable {
    /// The result of the rewriter's work on a word.
    package enum Outcome: Hashable, Sendable {
        /// The word was replaced by Swift that needs no Objective-C runtime.
        case rewritten
        /// The word was left as it is, for this reason.
        case left(reason: String)
    }

    /// The word, as in `@objc` or `#selector`.
    package let word: String
    /// The line of the word, from 1.
    package let line: Int
    /// The column of the word, from 1, in octets of UTF-8 as the compiler counts them.
    package let column: Int
    package let outcome: Outcome
}

/// A source file after the rewriter's work.
package struct RewrittenFile: Hashable, Sendable {
    package let path: String
    /// The text for the compiler; `nil` if the file needs no changes.
    package let text: String?
    /// The words in the file, in the order of their places.
    package let findings: [Finding]
}
