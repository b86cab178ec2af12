/// The reason why the daemon does not run, and its exit status.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    let status: Int32

    init(_ description: String, _ status: Int32) {
        self.description = description
        self.status = status
    }
}
