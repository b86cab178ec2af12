import BLEWire
import Testing

@testable import BLEHost

@Suite("A request of one packet")
struct SingleRequestTests {
    static let handle = AttributeHandle(wire: 9)

    static func request(isWrite: Bool) -> SingleRequest {
        .init(
            requester: Requester(.init(rawValue: 1), RequestNumber(rawValue: 7)),
            order: 1,
            handle: handle,
            isWrite: isWrite,
            security: .unencrypted,
            room: 22
        )
    }

    @Test(
        "A read response that leaves room in its packet completes the request",
        arguments: [(0, true), (21, true), (22, false), (23, false)]
    )
    func reading(count: Int, isWhole: Bool) {
        let request = Self.request(isWrite: false)
        #expect(request.isAnswered(by: .readResponse, octets: count) == isWhole)
        #expect(!request.isAnswered(by: .writeResponse, octets: 0))
    }

    @Test("A read response that fills its packet continues as a long read")
    func longRead() {
        var database = PeerDatabase()
        var procedure = Self.request(isWrite: false).procedure(writing: [])
        let first = ATTAnswer.success(.readResponse(.init(value: [UInt8](repeating: 1, count: 22))))
        guard case .request(let packet) = procedure.receive(first, &database, mtu: 23) else {
            Issue.record("more is asked for")
            return
        }
        #expect(packet == .readBlobRequest(.init(handle: Self.handle, offset: 22)))
    }

    @Test("A write response completes the request, and an error fails it")
    func writing() {
        var database = PeerDatabase()
        let request = Self.request(isWrite: true)
        #expect(request.isAnswered(by: .writeResponse, octets: 0))
        #expect(!request.isAnswered(by: .writeResponse, octets: 1) && !request.isAnswered(by: .readResponse, octets: 0))
        for (answer, failure) in [
            (ATTAnswer.success(.writeResponse), nil), (.failure(.att(.writeNotPermitted)), .att(.writeNotPermitted)),
        ]
            as [(ATTAnswer, Failure?)]
        {
            var procedure = request.procedure(writing: [1, 2])
            guard case .finished(let outcome) = procedure.receive(answer, &database, mtu: 23) else {
                Issue.record("nothing more is asked for")
                continue
            }
            #expect(outcome == .written(failure, Self.handle))
        }
    }
}
