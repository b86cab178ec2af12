import BLEWire

/// A procedure that reads a peer's device name.
///
/// Core 6.0, Vol 3, Part C, 12.1; Part G, 4.8.2.
package struct NameReading: Sendable {
    private enum State: Sendable {
        case finding
        case reading(ValueReading)
    }

    /// The maximum length of a name, in octets.
    ///
    /// Core 6.0, Vol 3, Part C, 12.1.
    package static let maximumLength = 248

    private var state = State.finding

    package init() {}

    package func begin() -> ProcedureStep<Result<String, Failure>> {
        .request(.readByTypeRequest(.init(.all, type: GATT.deviceName)))
    }

    package mutating func receive(_ answer: ATTAnswer, mtu: Int) -> ProcedureStep<Result<String, Failure>> {
        switch (state, answer) {
        case (.finding, .success(.readByTypeResponse(let response))):
            guard let entry = response.entries.first else { return .finished(.failure(.invalidResponse)) }
            let room = min(mtu - 4, ATT.ReadByTypeResponse.maximumValueLength)
            guard entry.value.count >= room else { return .finished(.success(Self.text([UInt8](entry.value)))) }
            var reading = ValueReading(entry.handle, after: [UInt8](entry.value))
            let step = reading.begin(mtu: mtu)
            state = .reading(reading)
            return step.map { $0.map(Self.text) }
        case (.finding, .success): return .finished(.failure(.invalidResponse))
        case (.finding, .failure(let failure)): return .finished(.failure(failure))
        case (.reading(var reading), _):
            let step = reading.receive(answer, mtu: mtu)
            state = .reading(reading)
            return step.map { $0.map(Self.text) }
        }
    }

    /// Returns the text in `value`, up to the first zero octet.
    private static func text(_ value: [UInt8]) -> String {
        String(decoding: value.prefix(maximumLength).prefix { $0 != 0 }, as: UTF8.self)
    }
}
