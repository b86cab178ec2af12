import BLEWire

/// The findings that follow from observations of a machine: what works, what is wrong, and how to fix it.
///
/// It is computed from ``Observations``, and observes nothing itself.
package struct Examination: Equatable, Sendable {
    /// All findings: problems first, then warnings, then facts.
    ///
    /// Findings of equal severity are ordered by subject, from the host that apps use to the stored state.
    package let findings: [Finding]

    /// Derives the findings from `observations`.
    package init(_ observations: Observations) {
        var draft = Draft(observations)
        draft.examineChoice()
        draft.examineKernel()
        draft.examineAdapters()
        draft.examineControllers()
        draft.examineVariables()
        draft.examineState()
        let all = draft.findings
        findings = Finding.Severity.allCases.flatMap { severity in all.filter { $0.severity == severity } }
    }

    /// True if there is a problem, which means that apps have no radio.
    package var isObstructed: Bool { count(of: .problem) > 0 }

    /// Returns the number of findings of a severity.
    package func count(of severity: Finding.Severity) -> Int { findings.count { $0.severity == severity } }

    /// The findings while they are being collected.
    struct Draft {
        let seen: Observations
        private(set) var findings: [Finding] = []

        init(_ observations: Observations) { seen = observations }

        mutating func add(_ finding: Finding) { findings.append(finding) }

        /// Adds a finding for an error, unless there is one with the same code and subject.
        mutating func add(_ error: TransportError, _ severity: Finding.Severity, of subject: String) {
            let finding = Finding(error, severity, of: subject)
            if !findings.contains(where: { $0.code == finding.code && $0.subject == subject }) { add(finding) }
        }

        /// True if apps would use an adapter of this machine.
        var needsAdapter: Bool {
            switch seen.choice {
            case .named(.adapter), .first, .none: true
            case .malformed, .named, .daemon: false
            }
        }
    }
}

extension Examination.Draft {
    /// Adds a finding about the host that apps would use.
    mutating func examineChoice() {
        let variable = HostSpecification.variable
        switch seen.choice {
        case .malformed(let error): add(Self.malformed(error, free: seen.freeAdapters.first))
        case .named(.demo):
            add(Finding(.hostSimulated, .fact, of: "demo", "Apps run in a simulated world: \(variable)=demo."))
        case .named(.world(let file)):
            if let problem = seen.worldProblem {
                let cure = "Correct the file, or try the built-in world: “export \(variable)=demo”."
                add(.init(.worldUnusable, .problem, of: file, problem, cure: cure, command: "export \(variable)=demo"))
            } else {
                add(Finding(.hostSimulated, .fact, of: file, "Apps run in the simulated world of \(file)."))
            }
        case .named(.daemon(let path, _)) where seen.daemonProblem != nil: addAbsentDaemon(path)
        case .named(let host):
            add(Finding(.hostChosen, .fact, of: "\(host)", "Apps use \(host), as set by \(variable)."))
        case .daemon(let path):
            let loss =
                "While it has an adapter, Bluetooth Classic, such as audio, does not work on that adapter, and "
                + "programs that use BlueZ reach it only through bled-bluez."
            add(Finding(.hostChosen, .fact, of: path, "Apps use the daemon at \(path). \(loss)"))
        case .first(let adapter):
            add(Finding(.hostChosen, .fact, of: "\(adapter)", "Apps use \(adapter), the first unused adapter."))
        case .none: break
        }
        if case .named(.serial(let address)) = seen.choice, !seen.portUsers.isEmpty {
            add(SerialPort.held(address, by: seen.portUsers), .problem, of: address.path)
        }
    }

    /// Adds the finding that no daemon can be reached at `path` or, if `path` is `nil`, at the default paths.
    private mutating func addAbsentDaemon(_ path: String?) {
        guard let error = seen.daemonProblem else { return }
        let command = "bled" + (path.map { " --socket \($0)" } ?? "")
        let isForbidden = error.finding == .socketForbidden
        add(
            Finding(
                error.finding,
                .problem,
                of: HostSpecification.variable,
                isForbidden ? "The Bluetooth daemon cannot be used (\(error))." : "No Bluetooth daemon (\(error)).",
                cure: isForbidden ? error.cure : "Start one with “\(command)”.",
                command: isForbidden ? error.command : command
            )
        )
    }

    private static func malformed(_ error: HostSpecification.Malformed, free: Adapter?) -> Finding {
        let variable = HostSpecification.variable
        let command = free.map { "export \(variable)=hci:\($0.index.wire)" } ?? "unset \(variable)"
        return Finding(
            .hostMalformed,
            .problem,
            of: variable,
            "\(variable) is “\(error.text)”, which is not a Bluetooth host: \(error.reason).",
            cure: "Set it to one of \(HostSpecification.forms), or try “\(command)”.",
            command: command
        )
    }

    /// Adds a finding about the kernel's support of Bluetooth.
    mutating func examineKernel() {
        switch seen.adapters {
        case .failure(let error): add(error, needsAdapter ? .problem : .fact, of: "kernel")
        case .success(let adapters):
            let count =
                switch adapters.count {
                case 0: "no adapters"
                case 1: "one adapter"
                default: "\(adapters.count) adapters"
                }
            add(Finding(.kernelReady, .fact, of: "kernel", "The kernel supports Bluetooth and lists \(count)."))
        }
    }

    /// Adds, for each adapter, findings about the reasons why apps cannot use it.
    mutating func examineAdapters() {
        guard case .success(let adapters) = seen.adapters else { return }
        if case .named(.adapter(let reference)) = seen.choice, !adapters.contains(where: seen.isChosen) {
            add(.missing(reference, among: adapters.map(\.index)), .problem, of: "\(reference)")
        }
        if adapters.isEmpty, case .none(let error) = seen.choice { add(error, .problem, of: "adapters") }
        for adapter in adapters { examine(adapter) }
    }

    private mutating func examine(_ adapter: Adapter) {
        var isNamed = false, isWanted = seen.isChosen(adapter)
        switch seen.choice {
        case .named(.adapter): isNamed = isWanted
        case .none: isWanted = true
        case .malformed, .named, .daemon, .first: break
        }
        let objections = adapter.objections(to: seen.program, isPrivileged: seen.isPrivileged, isNamed: isNamed)
        for error in objections {
            let isRight = error.code == .forbidden
            // The permission to take adapters is the same for all adapters, so it is reported only for those that apps
            // would use.
            if isRight, !isWanted { continue }
            add(error, isWanted ? .problem : .fact, of: isRight ? seen.program : "\(adapter.index)")
        }
        guard isNamed, adapter.state == .powered else { return }
        let finding = TransportError.powered(adapter.index, by: adapter.holders)
        add(
            Finding(
                finding.finding,
                .warning,
                of: "\(adapter.index)",
                "\(adapter.index) is used by BlueZ. Apps take it over while they run, which ends BlueZ's connections.",
                cure: "Use another adapter to keep them, or release this one yourself: “\(finding.command ?? "")”.",
                command: finding.command
            )
        )
        let command = "\(HostSpecification.variable)=hci:\(adapter.index.wire) ble adapters --probe"
        add(
            Finding(
                .controllerNotAsked,
                .fact,
                of: "\(adapter.index)",
                "\(adapter.index) was not checked because BlueZ uses it.",
                cure: "Check it with “\(command)”, which takes it over from BlueZ for a moment.",
                command: command
            )
        )
    }
}
