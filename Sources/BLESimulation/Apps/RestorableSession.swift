import BLEHost

/// A session that has a restore identifier, and goes on without its app.
struct RestorableSession {
    /// How many events wait for the next launch; with more than that the session is given up.
    static let mostHeld = 1_024

    /// Whom the host takes the app for, in each of its launches.
    let client: ClientID
    let machine: Int
    /// The index of the app among those of the machine.
    let app: Int
    let role: ClientRole
    let identifier: String
    /// What the app has asked for and heard.
    var state: PreservedState
    /// What the next launch is to hear; `nil` while the app is there.
    var held: [ClientEvent]?
    /// Whether the host was started anew and has to be asked for everything again when it can be.
    var awaitsRadio = false
}
