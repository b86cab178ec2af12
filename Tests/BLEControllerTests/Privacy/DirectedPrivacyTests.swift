import BLEController
import BLECrypto
import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 6.2.2, 6.3 and 6.4; Vol 4, Part E, 7.7.65.11 and 7.7.65.13.
@Suite("Directed advertising between private devices")
struct DirectedPrivacyTests {
    @Test(
        "A directed advertisement uses a bonded peer's private address, and only that peer receives and answers it",
        arguments: UInt64(0)..<16,
        Form.allCases
    )
    func calling(seed: UInt64, form: Form) throws {
        let own: HCI.OwnAddress = seed % 2 == 0 ? .resolvableOrPublic : .resolvableOrRandom
        var bench = Bench(seed: seed, loss: 0.2)
        let advertiser = bench.addPrivate(), friend = bench.addPrivate(), stranger = bench.addPrivate()
        bench.befriend(advertiser, friend, as: own)
        bench.list(advertiser, as: own, on: stranger)
        bench.resolve(stranger)
        bench.air.recordsAir = true
        bench.announce(form, advertiser, own: own, peer: Bench.identity(friend, own), isDirected: true)
        bench.listen(form, friend, own: own)
        bench.listen(form, stranger, own: own)
        bench.run(for: .seconds(2))
        #expect(Set(bench.heard(friend)) == [Bench.resolved(advertiser, own)] && bench.heard(stranger).isEmpty)
        let targets = bench.extendedReports(friend).map(\.target)
        #expect(targets.allSatisfy { $0 == Bench.resolved(friend, own) })
        for packet in bench.sent(advertiser) {
            let target = try #require(packet.other)
            #expect(RandomAddress.isMade(packet.own, with: Bench.key(advertiser)))
            #expect(RandomAddress.isMade(target, with: Bench.key(friend)))
        }
        bench.seek(form, stranger, Bench.identity(advertiser, own), own: own)
        bench.run(for: .seconds(1))
        #expect(bench.connections(advertiser).isEmpty && bench.connections(stranger).isEmpty)
        bench.air.conditions.loss = 0
        bench.seek(form, friend, Bench.identity(advertiser, own), own: own)
        bench.run(for: .seconds(5))
        let event = try #require(bench.connections(advertiser).first)
        #expect(event.peer == Bench.resolved(friend, own))
        // Who is called by a private address answers under another one.
        let targetsOnAir = Set(bench.sent(advertiser).compactMap(\.other))
        #expect(!targetsOnAir.contains(event.peerPrivateAddress) || form == .extended)
        #expect(RandomAddress.isMade(event.peerPrivateAddress, with: Bench.key(friend)))
    }

    @Test("A peer without an IRK is addressed by its identity address", arguments: Form.allCases)
    func keyless(form: Form) {
        var bench = Bench()
        let advertiser = bench.addPrivate(), target = bench.addPrivate()
        bench.list(target, hasPeerKey: false, on: advertiser)
        bench.air.recordsAir = true
        bench.announce(form, advertiser, own: .public, peer: Bench.address(target), isDirected: true)
        bench.listen(form, target)
        bench.run(for: .seconds(1))
        #expect(bench.heard(target).count > 5)
        #expect(bench.sent(advertiser).allSatisfy { $0.other == Bench.address(target) })
    }

    /// The policy of a scanner that cannot resolve the target, whether the advertiser is on its accept list; then
    /// whether it reports the advertisement.
    static let policies: [(policy: HCI.ScanFilterPolicy, isAccepted: Bool, isReported: Bool)] = [
        (.everyone, true, false), (.acceptList, true, false), (.everyoneAndUnresolved, false, true),
        (.acceptListAndUnresolved, true, true), (.acceptListAndUnresolved, false, false),
    ]

    @Test(
        "An unresolvable target is reported as such to a scanner that asks for it",
        arguments: policies.indices,
        Form.allCases
    )
    func unresolved(index: Int, form: Form) throws {
        let (policy, isAccepted, isReported) = Self.policies[index]
        var bench = Bench()
        let advertiser = bench.addPrivate(), scanner = bench.addPrivate()
        bench.list(7, on: advertiser)
        let accepted = Bench.address(isAccepted ? advertiser : 9)
        bench.send(.leAddDeviceToFilterAcceptList(.init(address: accepted)), scanner)
        bench.announce(form, advertiser, own: .public, peer: Bench.address(7), isDirected: true)
        bench.listen(form, scanner, policy: policy)
        bench.run(for: .seconds(1))
        let read = try bench.readAddress(of: Bench.address(7), isLocal: false, advertiser)
        let target = try #require(read)
        let directed = bench.events(scanner).flatMap { event -> [HCI.LEDirectedAdvertisingReport.Report] in
            if case .leDirectedAdvertisingReport(let event) = event { event.reports } else { [] }
        }
        #expect(directed.isEmpty != (isReported && form == .legacy))
        #expect(directed.allSatisfy { $0.target == target && $0.address == Bench.address(advertiser) })
        let extended = bench.extendedReports(scanner)
        #expect(extended.isEmpty != (isReported && form == .extended))
        #expect(extended.allSatisfy { $0.target == DeviceAddress(target.value, .unresolved) })
        #expect(bench.reports(scanner).isEmpty)
    }

    /// The own address type of who is called, whether it has a key for the caller, and whether it answers.
    static let answers: [(own: HCI.OwnAddress, hasKey: Bool, isConnected: Bool)] = [
        (.public, true, true), (.resolvableOrPublic, false, true), (.resolvableOrPublic, true, false),
    ]

    @Test(
        "A central in privacy mode ignores a directed advertisement to its identity address",
        arguments: answers.indices,
        Form.allCases
    )
    func byIdentity(index: Int, form: Form) {
        let (own, hasKey, isConnected) = Self.answers[index]
        var bench = Bench()
        let caller = bench.addPrivate(), called = bench.addPrivate()
        bench.list(caller, hasPeerKey: false, hasLocalKey: hasKey, on: called)
        bench.resolve(called)
        bench.announce(form, caller, own: .public, peer: Bench.address(called), isDirected: true)
        bench.seek(form, called, Bench.address(caller), own: own)
        bench.run(for: .seconds(2))
        #expect(bench.connections(called).isEmpty != isConnected)
    }

    @Test(
        "A scanner that resolves no addresses ignores directed advertisements to its private address",
        arguments: Form.allCases
    )
    func resolvingOff(form: Form) {
        var bench = Bench()
        let advertiser = bench.addPrivate(), friend = bench.addPrivate()
        bench.befriend(advertiser, friend)
        bench.resolve(friend, false)
        bench.announce(form, advertiser, own: .public, peer: Bench.address(friend), isDirected: true)
        bench.listen(form, friend)
        bench.seek(form, friend, Bench.address(advertiser))
        bench.run(for: .seconds(2))
        #expect(bench.heard(friend).isEmpty && bench.connections(friend).isEmpty)
    }
}
