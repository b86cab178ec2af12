package import BLEWire

/// The next step of a procedure.
package enum ProcedureStep<Outcome> {
    /// Send this request and wait for the response.
    case request(ATTPacket)
    /// The procedure has ended.
    case finished(Outcome)

    /// Returns the same step with a converted result.
    package func map<Other>(_ transform: (Outcome) -> Other) -> ProcedureStep<Other> {
        switch self {
        case .request(let packet): .request(packet)
        case .finished(let outcome): .finished(transform(outcome))
        }
    }
}

extension ProcedureStep: Equatable where Outcome: Equatable {}
extension ProcedureStep: Sendable where Outcome: Sendable {}

/// The response to a request, or the reason why there is no usable one.
package typealias ATTAnswer = Result<ATTPacket, Failure>

/// The discovered items, or the reason why discovery failed.
package typealias Found<Item> = Result<[Item], Failure>
