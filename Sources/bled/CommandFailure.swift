/// Why the daemon does not run, for people, and the exit status for scripts.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    let status: Int32

    init(_ description: String, _ status: Int32) {
        self.description = description
        self.status = status
    }
}
