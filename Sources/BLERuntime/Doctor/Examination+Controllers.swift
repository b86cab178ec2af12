import BLEHost
import BLEWire

// Findings about controllers, from the properties that they report.
extension Examination.Draft {
    mutating func examineControllers() {
        for answer in seen.probeResults {
            let gravity = answer.isChosen ? Finding.Severity.problem : .warning
            switch answer.result {
            case .failure(let error): add(error, gravity, of: answer.name)
            case .success(let facts): examine(facts, of: answer.name, gravity)
            }
        }
    }

    private mutating func examine(_ facts: ControllerFacts, of name: String, _ gravity: Finding.Severity) {
        let another = "Use a controller with Bluetooth 4.2 or later, which supports everything that apps need."
        guard let features = facts.features else {
            return add(
                Finding(
                    .controllerWithoutLE,
                    gravity,
                    of: name,
                    "The controller at \(name) does not support Bluetooth Low Energy.",
                    cure: another
                )
            )
        }
        if facts.aclPackets ?? 0 == 0 {
            let sentence = "The controller at \(name) has no data buffers, so nothing can be sent."
            add(Finding(.controllerWithoutBuffers, gravity, of: name, sentence, cure: another))
        }
        for role in facts.roles.map({ roles in [.central, .peripheral].filter { !roles.contains($0) } }) ?? [] {
            let sentence =
                "The controller at \(name) does not support the \(role.rawValue) role, so apps that need it fail."
            let cure = "Use another controller, or firmware with this role enabled."
            add(Finding(.controllerWithoutRole, .warning, of: name, sentence, cure: cure))
        }
        if let quirks = facts.quirks {
            for quirk in quirks.found {
                let sentence = "The controller at \(name) \(quirks.explanation(of: quirk))."
                add(Finding(.controllerQuirk, .fact, of: "\(name) \(quirk.rawValue)", sentence))
            }
        }
        if !features.contains(.encryption) {
            let sentence = "The controller at \(name) does not support encryption, so pairing is impossible."
            add(Finding(.controllerWithoutEncryption, .warning, of: name, sentence, cure: another))
        }
    }
}
