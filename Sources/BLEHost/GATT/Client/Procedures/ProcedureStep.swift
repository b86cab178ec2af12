package import BLEWire

/// What a procedure of the client does next.
package enum ProcedureStep<Outcome> {
    /// It sends this request and waits for the answer.
    case request(ATTPacket)
    /// It is over.
    case finished(Outcome)

    /// The same step of a procedure whose outcome is told in other words.
    package func map<Other>(_ transform: (Outcome) -> Other) -> ProcedureStep<Other> {
        switch self {
        case .request(let packet): .request(packet)
        case .finished(let outcome): .finished(transform(outcome))
        }
    }
}

extension ProcedureStep: Equatable where Outcome: Equatable {}
extension ProcedureStep: Sendable where Outcome: Sendable {}

/// What a server answers to a request: the response, or why there is none of use.
package typealias ATTAnswer = Result<ATTPacket, Failure>

/// Services and other things that a procedure looks for, as they were found, or why it gave up.
package typealias Found<Item> = Result<[Item], Failure>
