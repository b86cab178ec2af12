import BLEHost
import BLEWire

// What follows from what controllers say of themselves.
extension Examination.Draft {
    mutating func examineControllers() {
        for answer in seen.answers {
            let gravity = answer.isChosen ? Finding.Severity.problem : .warning
            switch answer.result {
            case .failure(let error): add(error, gravity, of: answer.name)
            case .success(let facts): examine(facts, of: answer.name, gravity)
            }
        }
    }

    private mutating func examine(_ facts: ControllerFacts, of name: String, _ gravity: Finding.Severity) {
        let another = "Use another controller: one of Bluetooth 4.2 or later can do all that apps ask for."
        guard let features = facts.features else {
            return add(
                Finding(
                    .controllerWithoutLE,
                    gravity,
                    of: name,
                    "The controller at \(name) does not know Bluetooth Low Energy.",
                    cure: another
                )
            )
        }
        if facts.aclPackets ?? 0 == 0 {
            let sentence = "The controller at \(name) has no buffers for data, so that nothing can be sent."
            add(Finding(.controllerWithoutBuffers, gravity, of: name, sentence, cure: another))
        }
        for role in facts.roles.map({ roles in [.central, .peripheral].filter { !roles.contains($0) } }) ?? [] {
            let sentence = "The controller at \(name) cannot be a \(role.rawValue): apps that are one will fail."
            let cure = "Use another controller, or firmware that was built with this role."
            add(Finding(.controllerWithoutRole, .warning, of: name, sentence, cure: cure))
        }
        for quirk in facts.quirks ?? [] {
            let row = quirk.row
            let sentence = "The controller at \(name) has \(row.sign): the host \(row.measure)."
            add(Finding(.controllerQuirk, .fact, of: "\(name) \(quirk.rawValue)", sentence))
        }
        if !features.contains(.encryption) {
            let sentence = "The controller at \(name) does not encrypt: devices cannot be paired with."
            add(Finding(.controllerWithoutEncryption, .warning, of: name, sentence, cure: another))
        }
    }
}
