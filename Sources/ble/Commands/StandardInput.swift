import Foundation

/// What a person types, or a script pipes in.
enum StandardInput {
    /// The lines of standard input without their ends, until it ends.
    ///
    /// A thread of its own waits for them, since a file, a pipe and a terminal must all do.
    static var lines: AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }
}
