import BLEWire
import Testing

@testable import BLEHost

/// What holds for every machine that drives the controller: it has one command under way at most, and while it is not
/// where it should be, either a command is under way, an event is due, or it knows when to go on.
@Suite("State machines that drive the controller")
struct MachineTests {
    static func status(using random: inout SeededGenerator) -> HCI.Status {
        Int.random(in: 0..<4, using: &random) == 0 ? .commandDisallowed : .success
    }

    @Test("The scanner reaches the wanted state, whatever is refused on the way", arguments: UInt64(0)..<16)
    func scanner(seed: UInt64) {
        var random = SeededGenerator(seed: seed), scanner = Scanner(), now = Instant(), isBusy = false
        for _ in 0..<2_000 {
            now = now + .milliseconds(.random(in: 0...500, using: &random))
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                scanner.wanted =
                    Bool.random(using: &random)
                    ? .init(dropsDuplicates: .random(using: &random), epoch: .random(in: 0..<3, using: &random)) : nil
            case 1 where isBusy:
                scanner.answered(Self.status(using: &random), at: now)
                isBusy = false
            default:
                if scanner.step(at: now) != nil {
                    #expect(!isBusy)
                    isBusy = true
                }
            }
        }
        scanner.wanted = .init(dropsDuplicates: false, epoch: 7)
        for _ in 0..<10 {
            if isBusy { scanner.answered(.success, at: now) }
            isBusy = scanner.step(at: now) != nil
            if !isBusy, let deadline = scanner.deadline { now = max(now, deadline) }
        }
        #expect(scanner.isOn)
        #expect(!isBusy)
    }

    @Test("The initiator tries the wanted addresses, whatever happens on the way", arguments: UInt64(0)..<16)
    func initiator(seed: UInt64) {
        var random = SeededGenerator(seed: seed), initiator = Initiator(), now = Instant(), isBusy = false
        let addresses = (UInt64(0)..<5).map { DeviceAddress($0, .random) }
        initiator.reset(capacity: 3)
        for _ in 0..<4_000 {
            now = now + .milliseconds(.random(in: 0...300, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: initiator.wanted = addresses.filter { _ in Bool.random(using: &random) }
            case 1 where isBusy:
                _ = initiator.answered(Self.status(using: &random), at: now)
                isBusy = false
            case 2: _ = initiator.completed(Self.status(using: &random), at: now)
            default:
                if initiator.step(at: now) != nil {
                    #expect(!isBusy)
                    isBusy = true
                }
            }
        }
        initiator.wanted = [addresses[4]]
        var steps: [Initiator.Step] = []
        for _ in 0..<20 {
            if isBusy { _ = initiator.answered(.success, at: now) }
            let step = initiator.step(at: now)
            isBusy = step != nil
            if let step { steps.append(step) } else if let deadline = initiator.deadline { now = max(now, deadline) }
            _ = initiator.expire(at: now)
        }
        #expect(initiator.isActive)
        if let last = steps.last { #expect(last == .create(.peer(addresses[4]), from: nil)) }
    }

    @Test("The advertiser answers each client once, and is on while any client wants it", arguments: UInt64(0)..<16)
    func advertiser(seed: UInt64) {
        var random = SeededGenerator(seed: seed), advertiser = Advertiser(), now = Instant(), isBusy = false
        var due: [ClientID: Int] = [:], active: Set<ClientID> = []
        func settle(_ clients: [ClientID], isOn: Bool) {
            for client in clients {
                due[client, default: 0] -= 1
                if !isOn { active.remove(client) }
            }
        }
        func answer(_ status: HCI.Status) {
            isBusy = false
            switch advertiser.answered(status, at: now) {
            case .proceed: break
            case .step: isBusy = true
            case .failed(let clients): settle(clients, isOn: false)
            }
        }
        for _ in 0..<4_000 {
            now = now + .milliseconds(.random(in: 0...300, using: &random))
            let client = ClientID(rawValue: .random(in: 0..<3, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let isNew = advertiser.start(.init(localName: "\(now.nanoseconds % 7)"), for: client) == .started
                #expect(isNew == !active.contains(client))
                if active.insert(client).inserted { due[client, default: 0] += 1 }
            case 1:
                if advertiser.stop(client) { due[client, default: 0] -= 1 }
                active.remove(client)
            case 2: advertiser.ended()
            case 3,
                4 where isBusy:
                if isBusy { answer(Self.status(using: &random)) }
            default:
                if advertiser.step(at: now) != nil {
                    #expect(!isBusy)
                    isBusy = true
                }
            }
            settle(advertiser.takeStarted(), isOn: true)
            for count in due.values { #expect(0...1 ~= count) }
        }
        for _ in 0..<30 {
            if isBusy { answer(.success) } else { isBusy = advertiser.step(at: now) != nil }
            if !isBusy, let deadline = advertiser.deadline { now = max(now, deadline) }
            settle(advertiser.takeStarted(), isOn: true)
        }
        #expect(due.values.allSatisfy { $0 == 0 })
    }
}
