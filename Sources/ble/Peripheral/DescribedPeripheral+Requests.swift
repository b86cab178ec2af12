import BLESimulation
import CoreBluetooth

/// A request from a central to a served peripheral, to be answered once.
struct ServedRequest {
    /// A characteristic of the request and its complete value.
    struct Part {
        let characteristic: CBMutableCharacteristic
        /// The current value for a read, and the new value for a write.
        let value: Data
    }

    /// The characteristics: one for a read, one or more for a write.
    let parts: [Part]
    /// True for a write, which is accepted or refused as a whole.
    let isWrite: Bool
    /// True if the central waits for an answer, and false for a write without response.
    let expectsAnswer: Bool
    /// The request to answer.
    fileprivate let request: CBATTRequest

    /// The central that made the request.
    var central: CBCentral { request.central }
    /// The position in the value at which a read begins; 0 for writes.
    var offset: Int { isWrite ? 0 : request.offset }
}

extension DescribedPeripheral {
    /// Answers a read, or lets ``onRequest`` answer it.
    func receive(_ request: CBATTRequest) {
        attend(to: request.central)
        guard let characteristic = request.characteristic as? CBMutableCharacteristic,
            let value = values[characteristic]
        else { return manager.respond(to: request, withResult: .attributeNotFound) }
        let parts = [ServedRequest.Part(characteristic: characteristic, value: value)]
        answer(ServedRequest(parts: parts, isWrite: false, expectsAnswer: true, request: request))
    }

    /// Answers a group of writes, or lets ``onRequest`` answer it.
    func receive(_ requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        var parts: [ServedRequest.Part] = []
        for request in requests {
            guard let characteristic = request.characteristic as? CBMutableCharacteristic,
                let current = values[characteristic]
            else { return manager.respond(to: first, withResult: .attributeNotFound) }
            let earlier = parts.firstIndex { $0.characteristic == characteristic }
            var value = earlier.map { parts[$0].value } ?? (request.offset == 0 ? Data() : current)
            guard request.offset <= value.count else {
                return manager.respond(to: first, withResult: .invalidOffset)
            }
            value = value.prefix(request.offset) + (request.value ?? Data())
            let part = ServedRequest.Part(characteristic: characteristic, value: value)
            if let earlier { parts[earlier] = part } else { parts.append(part) }
        }
        attend(to: first.central)
        let expectsAnswer = first.expectsAnswer
        answer(ServedRequest(parts: parts, isWrite: true, expectsAnswer: expectsAnswer, request: first))
    }

    private func answer(_ request: ServedRequest) {
        if !answerWrongly(request) { answerAsUsual(request) }
    }

    /// Answers a request as the description says, or lets ``onRequest`` answer it.
    func answerAsUsual(_ request: ServedRequest) {
        if onRequest?(request) == true { return }
        accept(request)
        guard request.isWrite else { return }
        for part in request.parts {
            let due = (answers[part.characteristic] ?? []).filter { Data($0.written) == part.value }
            guard due.isEmpty else {
                for answer in due { send(answer) }
                continue
            }
            change(part.characteristic, to: part.value)
        }
    }

    /// Answers a read with a value, or accepts a write and stores its values.
    ///
    /// A write does not notify subscribers.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - value: The complete value for a read; `nil` for the current value.
    func accept(_ request: ServedRequest, value: Data? = nil) {
        guard !request.isWrite else {
            manager.respond(to: request.request, withResult: .success)
            for part in request.parts {
                values[part.characteristic] = part.value
                report(fact("written", request.central, part.characteristic, "wrote", part.value))
            }
            return
        }
        guard let part = request.parts.first else { return }
        let value = value ?? part.value
        guard request.offset <= value.count else { return refuse(request, .invalidOffset) }
        request.request.value = value.dropFirst(request.offset)
        manager.respond(to: request.request, withResult: .success)
        if request.offset == 0 { report(fact("read", request.central, part.characteristic, "read", value)) }
    }

    /// Answers a request with an error.
    func refuse(_ request: ServedRequest, _ code: CBATTError.Code) {
        manager.respond(to: request.request, withResult: code)
    }

    /// Returns the output for an event in which a central uses a characteristic.
    ///
    /// `event` is the value of `"event"` in JSON; `verb` stands between the central and the characteristic in the text
    /// for users.
    func fact(
        _ event: String,
        _ central: CBCentral,
        _ characteristic: CBCharacteristic,
        _ verb: String,
        _ value: Data? = nil
    ) -> Fact {
        let identifier = central.identifier.uuidString
        var fields = characteristic.keys.merging(DeviceKeys(central.identifier).fields) { own, _ in own }
        fields["central"] = identifier
        if let value { fields.merge(characteristic.keys(of: value)) { own, _ in own } }
        let shown = value.map { ": \($0.shown)" } ?? ""
        return Fact(event, fields, text: "\(identifier) \(verb) \(characteristic.uuid)\(shown)")
    }
}
