/// The reason why `bled-bluez` cannot run, with the exit status.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    let status: Int32

    init(_ description: String, _ status: Int32) {
        self.description = description
        self.status = status
    }
}
