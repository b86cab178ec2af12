import Logging

// Findings about environment variables and stored state.
extension Examination.Draft {
    mutating func examineVariables() {
        for variable in ProgramEnvironment.variables {
            guard let value = seen.variables[variable] else { continue }
            switch variable {
            case ProgramEnvironment.privacyVariable: examinePrivacy(variable, value)
            case CaptureFile.variable: examineCapture(variable, value)
            case BackgroundDeclaration.variable: examineBackground(variable, value)
            default: examineLog(variable, value)
            }
        }
    }

    private mutating func examinePrivacy(_ variable: String, _ value: String) {
        guard value == "on" else { return addUnknown(variable, value, instead: "on", "The only valid value is “on”") }
        if seen.state.path == nil {
            add(
                Finding(
                    .privacyWithoutState,
                    .warning,
                    of: variable,
                    "\(variable) is ignored: there is no file in which to store the local IRK.",
                    cure: Self.stateCure,
                    command: Self.stateCommand
                )
            )
        } else {
            addSet(variable, value, "the host uses private addresses that change every 15 minutes")
        }
    }

    private mutating func examineCapture(_ variable: String, _ value: String) {
        if let failure = CaptureFile.obstacle(at: value) {
            let command = "export \(variable)=$PWD/capture.pcapng"
            let cure = "Name a .pcapng or .btsnoop file in a writable directory, for example with “\(command)”."
            add(Finding(.captureUnusable, .warning, of: variable, "\(failure)", cure: cure, command: command))
        } else {
            addSet(variable, value, "all HCI packets of an app are written to \(value), including pairing keys")
        }
    }

    private mutating func examineBackground(_ variable: String, _ value: String) {
        let known = ["bluetooth-central", "bluetooth-peripheral"], all = known.joined(separator: ",")
        let parts = value.split(separator: ",").map(String.init)
        if !parts.allSatisfy(known.contains) {
            let effect = ": managers whose mode is not listed are suspended"
            return addUnknown(variable, value, effect, instead: all, "Use \(known[0]), \(known[1]) or both")
        }
        let effect = "managers whose mode is listed run in the background; the others are suspended"
        addSet(variable, value, effect)
    }

    private mutating func examineLog(_ variable: String, _ value: String) {
        guard Logger.Level(rawValue: value) != nil else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            return addUnknown(variable, value, instead: "notice", "Use one of \(levels)")
        }
        addSet(variable, value, "messages of level \(value) and above are logged")
    }

    private mutating func addSet(_ variable: String, _ value: String, _ meaning: String) {
        add(Finding(.variableSet, .fact, of: variable, "\(variable) is “\(value)”: \(meaning)."))
    }

    private mutating func addUnknown(
        _ variable: String,
        _ value: String,
        _ effect: String = " and ignored",
        instead: String,
        _ rule: String
    ) {
        let command = "export \(variable)=\(instead)"
        add(
            Finding(
                .variableNotUnderstood,
                .warning,
                of: variable,
                "\(variable) is “\(value)”, which is invalid\(effect).",
                cure: "\(rule): “\(command)”.",
                command: command
            )
        )
    }

    /// The command that sets a directory for the stored state if `HOME` is not set.
    private static let stateCommand = "export XDG_STATE_HOME=$PWD/state"
    /// The advice if there is no directory for the stored state.
    private static let stateCure =
        "Set HOME, or set XDG_STATE_HOME to an absolute path, for example with “\(stateCommand)”."

    mutating func examineState() {
        guard let path = seen.state.path else {
            let sentence =
                "HOME is not set to an absolute path, so bonds and peer identifiers are lost when the process ends."
            let finding = Finding(
                .noStateFile,
                .warning,
                of: "HOME",
                sentence,
                cure: Self.stateCure,
                command: Self.stateCommand
            )
            return add(finding)
        }
        for problem in seen.state.problems {
            add(
                Finding(
                    problem.finding,
                    .warning,
                    of: path,
                    problem.sentence,
                    cure: problem.cure,
                    command: problem.command
                )
            )
        }
        if let peers = seen.state.peers {
            let known =
                switch peers.all {
                case 0: "no known peers"
                case 1: "one known peer, which is \(peers.bonded == 0 ? "not bonded" : "bonded")"
                default: "\(peers.all) known peers, \(peers.bonded) of them bonded"
                }
            add(Finding(.stateStored, .fact, of: path, "\(path) contains \(known)."))
        } else if seen.state.problems.isEmpty {
            add(Finding(.stateStored, .fact, of: path, "\(path) will be created when an app first runs."))
        }
    }
}
