import BLEWire
import Testing

@testable import BLEHost

@Suite("Opening enhanced bearers")
struct BearerOpeningTests {
    let start = Instant()
    static let full = Failure.channel(.insufficientResources)

    /// An opening that has asked for bearers.
    func asking() -> BearerOpening {
        var opening = BearerOpening()
        _ = opening.want()
        _ = opening.inquired(isOffered: true)
        return opening
    }

    /// Refuses all bearers that were asked for; returns what the last refusal comes to.
    func refuse(_ opening: inout BearerOpening, _ failure: Failure, delay: Duration) -> BearerOpening.OnEvent {
        for _ in 1..<BearerOpening.count {
            let event = opening.refused(failure, retryDelay: delay, at: start)
            #expect(event == .nothing)
        }
        return opening.refused(failure, retryDelay: delay, at: start)
    }

    @Test(
        "The host asks the peer once whether it supports bearers, and opens them only if it does",
        arguments: [true, false]
    )
    func inquiry(isOffered: Bool) {
        var opening = BearerOpening()
        #expect(opening.inquired(isOffered: true) == .nothing)
        #expect(opening.want() == .inquire)
        #expect(opening.want() == .nothing)
        #expect(opening.inquired(isOffered: isOffered) == (isOffered ? .open : .nothing))
        #expect(opening.inquired(isOffered: true) == .nothing)
        #expect(opening.want() == .nothing)
    }

    @Test("A central refused for lack of resources retries immediately, three attempts in all")
    func central() {
        var opening = asking()
        #expect(refuse(&opening, Self.full, delay: .zero) == .open)
        #expect(refuse(&opening, Self.full, delay: .zero) == .open)
        #expect(refuse(&opening, Self.full, delay: .zero) == .nothing)
        #expect(refuse(&opening, Self.full, delay: .zero) == .nothing)
    }

    @Test("A peripheral retries after a delay, and not a nanosecond earlier")
    func peripheral() {
        var opening = asking()
        #expect(refuse(&opening, Self.full, delay: .milliseconds(100)) == .nothing)
        let due = start + .milliseconds(100)
        #expect(opening.deadline == due)
        #expect(opening.expire(at: Instant(nanoseconds: due.nanoseconds - 1), hasBearers: false) == .nothing)
        var other = opening
        #expect(opening.expire(at: due, hasBearers: false) == .open)
        #expect(other.expire(at: due, hasBearers: true) == .nothing)
        #expect(opening.deadline == nil && other.deadline == nil)
    }

    static let failures: [Failure] = [
        .channel(.insufficientAuthentication), .channel(.insufficientEncryption), .channel(.spsmNotSupported),
        .notSupported, .timedOut, .notConnected, .peerMisbehaved, .limitReached,
    ]

    @Test("A request refused for another reason is not repeated", arguments: failures)
    func refused(failure: Failure) {
        var opening = asking()
        #expect(refuse(&opening, failure, delay: .zero) == .nothing)
        #expect(opening.deadline == nil)
    }

    @Test("Fewer bearers than requested are enough")
    func some() {
        var opening = asking()
        opening.opened()
        for _ in 1..<BearerOpening.count {
            let event = opening.refused(Self.full, retryDelay: .zero, at: start)
            #expect(event == .nothing)
        }
        #expect(opening.deadline == nil)
    }
}
