import BLEHost

/// The background modes of an app.
///
/// An iOS app declares them as `UIBackgroundModes`.
public struct BackgroundModes: OptionSet, Hashable, Sendable {
    /// One bit for each mode.
    public let rawValue: Int

    /// Creates modes from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `bluetooth-central`: central managers continue; scans must name services and report each peripheral once.
    public static var central: Self { Self(rawValue: 1) }

    /// `bluetooth-peripheral`: peripheral managers continue, but advertise without a name and with services in the
    /// overflow area.
    public static var peripheral: Self { Self(rawValue: 2) }

    /// The app has started a Live Activity while it had a manager: managers whose role is among the modes continue as
    /// if they were in the foreground.
    public static var liveActivity: Self { Self(rawValue: 4) }

    /// Creates the mode that an app needs for managers with this role.
    init(_ role: ClientRole) {
        self =
            switch role {
            case .central: .central
            case .peripheral: .peripheral
            case .agent, .tester: []
            }
    }
}
