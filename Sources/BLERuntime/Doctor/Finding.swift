/// One thing that an examination found about Bluetooth on this machine, with what to do about it.
package struct Finding: Equatable, Sendable {
    /// How much a finding matters.
    package enum Severity: String, CaseIterable, Sendable {
        /// It stands in the way: apps have no radio.
        case problem
        /// Apps have a radio, and something will not be as they expect.
        case warning
        /// Something that is good to know.
        case fact
    }

    package let code: Code
    package let severity: Severity
    /// What it is about, such as `hci0`, the path of a file or the name of a variable.
    package let subject: String
    /// What was found, as a sentence.
    package let sentence: String
    /// Whole sentences that say what to do; `nil` if nothing has to be done.
    package let cure: String?
    /// The command line that does it; `nil` if none does it alone.
    package let command: String?

    package init(
        _ code: Code,
        _ severity: Severity,
        of subject: String,
        _ sentence: String,
        cure: String? = nil,
        command: String? = nil
    ) {
        self.code = code
        self.severity = severity
        self.subject = subject
        self.sentence = sentence
        self.cure = cure
        self.command = command
    }

    /// Creates a finding from an error, which says what it is and how it is cured.
    init(_ error: TransportError, _ severity: Severity, of subject: String) {
        let text = "\(error)", start = text.hasPrefix(subject) || text.hasPrefix("/") ? "" : text.prefix(1).uppercased()
        self.init(
            error.finding,
            severity,
            of: subject,
            start + text.dropFirst(start.count) + ".",
            cure: error.cure ?? error.code.usualCure,
            command: error.command
        )
    }
}

extension Finding {
    /// What kind of thing was found; the names are for scripts, and stay as they are.
    package enum Code: String, CaseIterable, Sendable {
        /// What apps talk to.
        case hostChosen = "host-chosen"
        case hostSimulated = "host-simulated"
        case hostMalformed = "host-malformed"
        case worldUnusable = "world-unusable"

        /// The variables of the environment.
        case variableSet = "variable-set"
        case variableNotUnderstood = "variable-not-understood"
        case captureUnusable = "capture-unusable"
        case privacyWithoutState = "privacy-without-state"

        /// The kernel.
        case kernelReady = "kernel-ready"
        case kernelWithoutBluetooth = "kernel-without-bluetooth"
        case networkOfContainer = "network-of-container"
        case kernelSilent = "kernel-silent"
        case notPermitted = "not-permitted"

        /// The adapters of the machine.
        case noAdapter = "no-adapter"
        case adapterMissing = "adapter-missing"
        case adapterBlocked = "adapter-blocked"
        case adapterSwitchedOff = "adapter-switched-off"
        case adapterUsedByBlueZ = "adapter-used-by-bluez"
        case adapterTaken = "adapter-taken"
        case adapterUnconfigured = "adapter-unconfigured"
        case adapterUnusable = "adapter-unusable"

        /// Serial ports.
        case portMissing = "port-missing"
        case portForbidden = "port-forbidden"
        case portTaken = "port-taken"
        case portIsNone = "port-is-none"
        case portRate = "port-rate"

        /// Sockets.
        case nobodyListens = "nobody-listens"
        case socketMissing = "socket-missing"
        case socketForbidden = "socket-forbidden"
        case nameUnknown = "name-unknown"
        case connectionClosed = "connection-closed"

        /// Controllers.
        case controllerNotAsked = "controller-not-asked"
        case controllerUnreachable = "controller-unreachable"
        case controllerSilent = "controller-silent"
        case controllerGarbled = "controller-garbled"
        case controllerBroken = "controller-broken"
        case controllerWithoutLE = "controller-without-le"
        case controllerWithoutBuffers = "controller-without-buffers"
        case controllerWithoutRole = "controller-without-role"
        case controllerWithoutEncryption = "controller-without-encryption"
        case controllerQuirk = "controller-quirk"

        /// What is kept from one run to the next.
        case stateKept = "state-kept"
        case stateNowhere = "state-nowhere"
        case stateForbidden = "state-forbidden"
        case stateNotPrivate = "state-not-private"
        case stateLocked = "state-locked"
        case stateNewer = "state-newer"
        case stateDamaged = "state-damaged"
    }
}
