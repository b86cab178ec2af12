import BLERuntime

extension World {
    /// Something that an app does and that works here, but that an iPhone would refuse or do differently.
    public struct Finding: Hashable, Sendable, CustomStringConvertible {
        /// The rule that an app has broken.
        public enum Rule: String, Hashable, Sendable, CaseIterable {
            /// A background app scans without naming services.
            case backgroundScan = "Core Bluetooth Background Processing: scanning"
            /// A background app scans with duplicates.
            case backgroundDuplicates = "CBCentralManagerScanOptionAllowDuplicatesKey in the background"
            /// A background app works for more than about ten seconds after it was woken.
            case backgroundTime = "Core Bluetooth Background Processing: about 10 seconds"
            /// A background task was not ended in time.
            case backgroundTask = "beginBackgroundTask(expirationHandler:)"
            /// The app has released a peripheral that was connected or connecting.
            case unretainedPeripheral = "CBPeripheral must be retained"
            /// An advertisement exceeds the 28 + 10 octets that fit, or has keys that Core Bluetooth does not
            /// advertise.
            case advertisement = "startAdvertising(_:): 28 bytes and 10 more for the name"
            /// A write without response is longer than the maximum.
            case writeLength = "maximumWriteValueLength(for:)"
            /// The system wakes the app in the background to call a method that the delegate lacks.
            case missingMethod = "Core Bluetooth Background Processing: delegate methods"
            /// The manager uses state restoration, but its delegate lacks `willRestoreState`.
            case missingRestoration = "State Preservation and Restoration: willRestoreState"
            /// While an app was suspended, more events arrived than are kept for it, and values were dropped.
            case missedValues = "Core Bluetooth Background Processing: events that wait"
            /// The app has not ended a connection.
            case endlessConnection = "cancelPeripheralConnection(_:)"
        }

        /// The broken rule.
        ///
        /// Its raw value is the name of Apple's document or API that states the rule.
        public let rule: Rule
        /// A description of what happened.
        public let sentence: String
        /// The name of the machine.
        public let machine: String
        /// The name of the app.
        public let app: String
        /// The age of the world when the finding was made.
        public let time: Duration

        /// The finding in one line.
        public var description: String {
            "\(machine)/\(app) at \(time.inMilliseconds): \(sentence) (\(rule.rawValue))"
        }
    }

    /// The findings so far.
    ///
    /// Each rule that an app has broken is listed once; for missing delegate methods, each method is listed once.
    ///
    /// ```swift
    /// #expect(world.findings.isEmpty)
    /// ```
    public var findings: [Finding] { core.withLock { $0.findings } }

    /// The connections that apps have not ended yet, as findings.
    ///
    /// A connection costs both devices energy, so an app should end it when it is no longer needed. A connection also
    /// ends with its manager.
    public var openConnections: [Finding] { core.withLock { $0.openConnections } }
}

/// A broken rule, which becomes a ``World/Finding`` if the rule applies to the app's session.
struct PossibleFinding {
    let rule: World.Finding.Rule
    let sentence: String
}
