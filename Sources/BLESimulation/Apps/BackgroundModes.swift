import BLEHost

/// What an app may do while nobody uses it.
///
/// An app for a phone declares these under `UIBackgroundModes`.
public struct BackgroundModes: OptionSet, Hashable, Sendable {
    /// One bit for each mode.
    public let rawValue: Int

    /// Creates modes from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Central managers go on, `bluetooth-central`: scans find services that they name, each peripheral once.
    public static var central: Self { Self(rawValue: 1) }

    /// Peripheral managers go on, `bluetooth-peripheral`: without a name, and with services that only those find who
    /// look for them.
    public static var peripheral: Self { Self(rawValue: 2) }

    /// An activity of the app is shown meanwhile, which was begun while it had a manager: managers whose role is among
    /// the modes do what they do in the foreground.
    public static var liveActivity: Self { Self(rawValue: 4) }

    /// What an app needs to use the host in this way.
    init(_ role: ClientRole) {
        self =
            switch role {
            case .central: .central
            case .peripheral: .peripheral
            case .agent, .tester: []
            }
    }
}
