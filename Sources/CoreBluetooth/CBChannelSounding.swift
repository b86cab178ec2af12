public import Foundation

/// The configuration of a channel sounding session.
///
/// Threads may share a configuration, since it never changes.
open class CBChannelSoundingSessionConfiguration: NSObject, @unchecked Sendable {
    /// The role of this device in a measurement.
    @nonexhaustive
    public enum Role: Int, BitwiseCopyable, Sendable {
        /// The device that starts the measurement.
        case initiator = 0
    }

    /// The role of this device.
    public let role: Role

    /// Creates a configuration.
    public init(role: Role) { self.role = role }
}

/// The results of a distance measurement.
///
/// Threads may share results, since they never change.
open class CBChannelSoundingProcedureResults: NSObject, @unchecked Sendable {
    /// Unavailable: apps do not create results; they receive them from a peripheral.
    @available(*, unavailable)
    public override init() { preconditionFailure("results cannot be created by apps") }

    /// The distance in metres; always −1, which means that it is unknown.
    open var distance: Double { -1 }
}
