import BLEHost

/// The session of a manager with a restore identifier.
///
/// It lasts through all launches of the app and between them.
struct RestorableRole {
    /// The identifier by which the host knows the session; it stays the same in every launch.
    let client: ClientID
    let machine: Int
    /// The index of the app among the apps of the machine.
    let app: Int
    let role: ClientRole
    let identifier: String
    /// The activities of the app, and the events that its next launch is to receive.
    var session: KeptSession
}
