import BLESession
import Testing

@testable import BLEDaemon

@Suite("Connection limits")
struct ConnectionLimiterTests {
    private static let connectionLimiter = ConnectionLimiter(
        connections: .init(process: 3, user: 5, all: 8),
        ungreeted: .init(process: 2, user: 3, all: 4)
    )

    private static func guests(_ count: Int, user: UInt32?, process: Int32?, hasGreeted: Bool) -> [ConnectionLimiter
        .Program]
    {
        Array(repeating: .init(user: user, process: process, hasGreeted: hasGreeted), count: count)
    }

    private static func spread(_ count: Int, user: UInt32, hasGreeted: Bool) -> [ConnectionLimiter.Program] {
        (0..<count).map { .init(user: user, process: 100 + Int32($0), hasGreeted: hasGreeted) }
    }

    static let cases: [(among: [ConnectionLimiter.Program], sentence: String?)] = [
        ([], nil),
        (guests(2, user: 1, process: 7, hasGreeted: true), nil),
        (
            guests(3, user: 1, process: 7, hasGreeted: true),
            "3 connections of this process are already open, which is the limit"
        ),
        // The same number is another process's where it is another user's.
        (guests(3, user: 2, process: 7, hasGreeted: true), nil),
        (
            guests(2, user: 1, process: 7, hasGreeted: false),
            "2 connections of this process have sent no greeting yet, which is the limit"
        ),
        (spread(4, user: 1, hasGreeted: true), nil),
        (spread(5, user: 1, hasGreeted: true), "5 connections of this user are already open, which is the limit"),
        (
            spread(3, user: 1, hasGreeted: false),
            "3 connections of this user have sent no greeting yet, which is the limit"
        ),
        (spread(7, user: 2, hasGreeted: true), nil),
        (spread(8, user: 2, hasGreeted: true), "8 connections are already open, which is the limit"),
        (spread(4, user: 2, hasGreeted: false), "4 connections have sent no greeting yet, which is the limit"),
        (spread(3, user: 2, hasGreeted: false), nil),
    ]

    @Test(
        "A connection is accepted until its process, its user or all users together reach the limit",
        arguments: cases
    )
    func bounds(among: [ConnectionLimiter.Program], sentence: String?) {
        let newcomer = ConnectionLimiter.Program(user: 1, process: 7)
        #expect(Self.connectionLimiter.refusal(of: newcomer, among: among)?.sentence == sentence)
        #expect(
            Self.connectionLimiter.refusal(of: newcomer, among: among)?.reason == (sentence == nil ? nil : .tooMany)
        )
    }

    @Test("An unknown process counts toward its user's limit, and an unknown user toward the overall limit")
    func unknown() {
        let hidden = Self.guests(4, user: 1, process: nil, hasGreeted: true)
        #expect(Self.connectionLimiter.refusal(of: .init(user: 1, process: nil), among: hidden) == nil)
        let one = ConnectionLimiter.Program(user: 1, process: 3, hasGreeted: true)
        #expect(Self.connectionLimiter.refusal(of: .init(user: 1, process: nil), among: hidden + [one]) != nil)
        let nobodies = Self.guests(7, user: nil, process: nil, hasGreeted: true)
        #expect(Self.connectionLimiter.refusal(of: .init(), among: nobodies) == nil)
        #expect(Self.connectionLimiter.refusal(of: .init(), among: nobodies + [one]) != nil)
    }
}
