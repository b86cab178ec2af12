public import Foundation

/// How distance to a peer should be measured.
///
/// Threads may share a configuration, since it never changes.
open class CBChannelSoundingSessionConfiguration: NSObject, @unchecked Sendable {
    /// Which part this device takes in a measurement.
    @nonexhaustive
    public enum Role: Int, BitwiseCopyable, Sendable {
        /// It begins.
        case initiator = 0
    }

    /// Which part this device takes.
    public let role: Role

    /// Creates a configuration.
    public init(role: Role) { self.role = role }
}

/// What a measurement of distance gave.
///
/// Threads may share results, since they never change.
open class CBChannelSoundingProcedureResults: NSObject, @unchecked Sendable {
    /// Results come from a peripheral.
    @available(*, unavailable)
    public override init() { preconditionFailure("results come from a peripheral") }

    /// The distance in metres; negative if there is none.
    open var distance: Double { -1 }
}
