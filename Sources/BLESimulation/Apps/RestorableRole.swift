import BLEHost

/// The session of a manager with a restore identifier, in each launch of its app and between them.
struct RestorableRole {
    /// The client that the host knows in each launch.
    let client: ClientID
    let machine: Int
    /// The index of the app among those of the machine.
    let app: Int
    let role: ClientRole
    let identifier: String
    /// What the app was doing, and what its next launch is to hear.
    var session: KeptSession
}
