import BLEWire
import Testing

@testable import BLEHost

@Suite("Fast paths")
struct FastPathTests {
    /// All that came of a story, with one number for what each client was told in several.
    struct Account: Equatable {
        var events: [String] = []
        var frames: [String] = []
        var notes: [Note] = []
        var taken: [String: Int] = [:]

        init(_ rig: Rig) {
            for (client, event) in rig.events {
                switch event {
                case .peer(_, .writeCommandsTaken(let count), _): taken["commands", default: 0] += count
                case .server(.updatesTaken(let count)): taken["updates", default: 0] += count
                default: events.append("\(client): \(event)")
                }
            }
            frames = rig.frames.map { "\($0.link) \($0.channel): \($0.payload)" }
            notes = rig.notes
        }
    }

    static func account(seed: UInt64, _ detour: FastPathStory.Detour) -> Account {
        var story = FastPathStory(seed: seed, detour)
        for _ in 0..<400 { story.step() }
        return Account(story.rig)
    }

    @Test("The fast paths and the general path give the same results", arguments: UInt64(0)..<16)
    func detours(seed: UInt64) {
        let short = Self.account(seed: seed, .none)
        #expect(short.events.count > 50 && short.frames.count > 50)
        #expect(short.taken["commands", default: 0] > 0 && short.taken["updates", default: 0] > 0)
        for detour in FastPathStory.Detour.allCases where detour != .none {
            #expect(short == Self.account(seed: seed, detour), "\(detour)")
        }
    }
}
