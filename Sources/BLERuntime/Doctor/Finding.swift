/// One result of an examination of Bluetooth on this machine, with advice.
package struct Finding: Equatable, Sendable {
    /// The severity of a finding, by its effect on apps.
    package enum Severity: String, CaseIterable, Sendable {
        /// Apps have no radio.
        case problem
        /// Apps have a radio, but something will not work as they expect.
        case warning
        /// Nothing is wrong; the finding is for information.
        case fact
    }

    package let code: Code
    package let severity: Severity
    /// The thing that the finding is about, such as `hci0`, a file's path or a variable's name.
    package let subject: String
    /// The finding, as a sentence.
    package let sentence: String
    /// Advice, as one or more sentences; `nil` if there is nothing to do.
    package let cure: String?
    /// The command line that fixes the problem; `nil` if no single command does.
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

    /// Creates a finding from the description and the advice of an error.
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
    /// The kind of a finding.
    ///
    /// Scripts rely on the names, so they must not change.
    package enum Code: String, CaseIterable, Sendable {
        // About the host that apps would use.
        case hostChosen = "host-chosen"
        case hostSimulated = "host-simulated"
        case hostMalformed = "host-malformed"
        case worldUnusable = "world-unusable"

        // About environment variables.
        case variableSet = "variable-set"
        case variableNotUnderstood = "variable-not-understood"
        case captureUnusable = "capture-unusable"
        case privacyWithoutState = "privacy-without-state"

        // About the kernel.
        case kernelReady = "kernel-ready"
        case kernelWithoutBluetooth = "kernel-without-bluetooth"
        case networkOfContainer = "network-of-container"
        case kernelSilent = "kernel-silent"
        case notPermitted = "not-permitted"

        // About the adapters of the machine.
        case noAdapter = "no-adapter"
        case adapterMissing = "adapter-missing"
        case adapterBlocked = "adapter-blocked"
        case adapterSwitchedOff = "adapter-switched-off"
        case adapterUsedByBlueZ = "adapter-used-by-bluez"
        case adapterTaken = "adapter-taken"
        case adapterUnconfigured = "adapter-unconfigured"
        case adapterUnusable = "adapter-unusable"

        // About serial ports.
        case portMissing = "port-missing"
        case portForbidden = "port-forbidden"
        case portTaken = "port-taken"
        case portIsNone = "port-is-none"
        case portRate = "port-rate"

        // About sockets.
        case noListener = "nobody-listens"
        case socketMissing = "socket-missing"
        case socketForbidden = "socket-forbidden"
        case nameUnknown = "name-unknown"
        case connectionClosed = "connection-closed"

        // About controllers.
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

        // About stored state.
        case stateStored = "state-kept"
        case noStateFile = "state-nowhere"
        case stateUnusable = "state-forbidden"
        case stateNotPrivate = "state-not-private"
        case stateLocked = "state-locked"
        case stateNewer = "state-newer"
        case stateDamaged = "state-damaged"
    }
}
