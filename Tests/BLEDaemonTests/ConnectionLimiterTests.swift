import BLESession
import Testing

@testable import BLEDaemon

@Suite("Connection limits")
struct ConnectionLimiterTests {
    private static let connectionLimiter = ConnectionLimiter(
        connections: .init(process: 3, user: 5, all: 8),
        ungreeted: .init(process: 2, user: 3, all: 4),
        administrators: [0]
    )

    /// Returns the reason to refuse a new connection; `nil` if it is admitted.
    private static func refusal(
        of newcomer: ConnectionLimiter.Program,
        among programs: [ConnectionLimiter.Program]
    ) -> Refusal? {
        if case .refuse(let refusal) = connectionLimiter.connect(newcomer, among: programs) { refusal } else { nil }
    }

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
        (
            (2...5).map { ConnectionLimiter.Program(user: $0) },
            "4 connections have sent no greeting yet, which is the limit"
        ),
        (spread(4, user: 2, hasGreeted: false), nil),
        (spread(3, user: 2, hasGreeted: false), nil),
    ]

    @Test(
        "A connection is accepted until its process, its user or all users together reach the limit",
        arguments: cases
    )
    func bounds(among: [ConnectionLimiter.Program], sentence: String?) {
        let newcomer = ConnectionLimiter.Program(user: 1, process: 7)
        let refusal = Self.refusal(of: newcomer, among: among)
        #expect(refusal?.sentence == sentence && refusal?.reason == (sentence == nil ? nil : .tooMany))
    }

    @Test("If too many connections are silent, a new one replaces the oldest one of the user with the most")
    func room() {
        let silent: [UInt32] = [2, 3, 4, 4], programs = silent.map { ConnectionLimiter.Program(user: $0) }
        let greeted = ConnectionLimiter.Program(user: 4, hasGreeted: true)
        func outcome(_ user: UInt32?) -> ConnectionLimiter.OnConnect {
            Self.connectionLimiter.connect(.init(user: user), among: [greeted] + programs)
        }
        #expect(outcome(5) == .admitInPlace(of: 3) && outcome(nil) == .admitInPlace(of: 3))
        for user in [2, 3, 4] as [UInt32] {
            #expect(Self.refusal(of: .init(user: user), among: [greeted] + programs)?.reason == .tooMany)
        }
    }

    @Test("The limits for all users together do not apply to administrators, but the limits of a user do")
    func administrators() {
        let greeted = Self.spread(8, user: 2, hasGreeted: true), silent = Self.spread(4, user: 2, hasGreeted: false)
        for programs in [greeted, silent] {
            #expect(Self.connectionLimiter.connect(.init(user: 0, process: 7), among: programs) == .admit)
        }
        let own = Self.spread(5, user: 0, hasGreeted: true)
        #expect(Self.refusal(of: .init(user: 0, process: 7), among: own) != nil)
    }

    @Test("An unknown process counts toward its user's limit, and an unknown user toward the overall limit")
    func unknown() {
        let hidden = Self.guests(4, user: 1, process: nil, hasGreeted: true)
        #expect(Self.refusal(of: .init(user: 1, process: nil), among: hidden) == nil)
        let one = ConnectionLimiter.Program(user: 1, process: 3, hasGreeted: true)
        #expect(Self.refusal(of: .init(user: 1, process: nil), among: hidden + [one]) != nil)
        let nobodies = Self.guests(7, user: nil, process: nil, hasGreeted: true)
        #expect(Self.refusal(of: .init(), among: nobodies) == nil)
        #expect(Self.refusal(of: .init(), among: nobodies + [one]) != nil)
    }
}
