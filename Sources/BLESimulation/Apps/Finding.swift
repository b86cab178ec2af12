import BLERuntime

extension World {
    /// Something that works here, and that an iPhone would refuse or do differently.
    public struct Finding: Hashable, Sendable, CustomStringConvertible {
        /// What an app did not keep to.
        public enum Rule: String, Hashable, Sendable, CaseIterable {
            /// An app in the background scans without naming services.
            case backgroundScan = "Core Bluetooth Background Processing: scanning"
            /// An app in the background scans with duplicates.
            case backgroundDuplicates = "CBCentralManagerScanOptionAllowDuplicatesKey in the background"
            /// An app in the background works longer than about ten seconds after it was woken.
            case backgroundTime = "Core Bluetooth Background Processing: about 10 seconds"
            /// A background task was not ended in its time.
            case backgroundTask = "beginBackgroundTask(expirationHandler:)"
            /// Nobody kept the peripheral that was to be connected.
            case unretainedPeripheral = "CBPeripheral must be retained"
            /// An advertisement has more than the 28 + 10 octets that fit, or keys that are not advertised.
            case advertisement = "startAdvertising(_:): 28 bytes and 10 more for the name"
            /// A value without response is longer than the longest that is sent.
            case writeLength = "maximumWriteValueLength(for:)"
            /// The delegate lacks the method for which the system wakes an app that declares the mode.
            case missingMethod = "Core Bluetooth Background Processing: delegate methods"
            /// A state was to be restored, and the delegate lacks the method that is told of it.
            case missingRestoration = "State Preservation and Restoration: willRestoreState"
            /// More came while an app slept than is kept for it.
            case missedValues = "Core Bluetooth Background Processing: events that wait"
            /// A connection was still there at the end.
            case endlessConnection = "cancelPeripheralConnection(_:)"
        }

        /// What was not kept to; its raw value is Apple's name for it.
        public let rule: Rule
        /// What happened.
        public let sentence: String
        /// Where: the name of the machine and of the app.
        public let machine: String
        /// The name of the app.
        public let app: String
        /// How old the world was.
        public let time: Duration

        /// The finding in one line.
        public var description: String {
            "\(machine)/\(app) at \(time.inMilliseconds): \(sentence) (\(rule.rawValue))"
        }
    }

    /// What apps have done so far that an iPhone would refuse, each thing once for each app.
    ///
    /// ```swift
    /// #expect(world.findings.isEmpty)
    /// ```
    public var findings: [Finding] { core.withLock { $0.findings } }

    /// Connections that apps have not given up by now, as findings: whoever needs a device no more lets it go, since a
    /// connection costs both ends energy.
    public var openConnections: [Finding] { core.withLock { $0.openConnections } }
}

/// What a request is found guilty of.
struct Suspicion {
    let rule: World.Finding.Rule
    let sentence: String
}
