import BLEController
import BLECrypto
import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 4.3.3 and 6.3; Vol 4, Part E, 7.7.65.2, 7.7.65.11 and 7.7.65.13.
@Suite("Reports of private advertisers")
struct PrivateReportTests {
    static let privateTypes: [HCI.OwnAddress] = [.resolvableOrPublic, .resolvableOrRandom]

    @Test(
        "A private address is reported as the identity by scanners with the IRK, and unchanged by others",
        arguments: UInt64(0)..<16,
        Form.allCases
    )
    func resolution(seed: UInt64, form: Form) {
        let own = Self.privateTypes[Int(seed % 2)]
        var bench = Bench(seed: seed, loss: 0.2)
        let advertiser = bench.addPrivate(), friend = bench.addPrivate(), sleeper = bench.addPrivate()
        let stranger = bench.addPrivate()
        bench.befriend(advertiser, friend, as: own)
        // Who has the key but does not resolve, and who resolves but has another key.
        bench.list(advertiser, as: own, on: sleeper)
        bench.list(7, on: stranger)
        bench.resolve(stranger)
        bench.announce(form, advertiser, own: own, peer: Bench.identity(friend, own))
        for scanner in [friend, sleeper, stranger] { bench.listen(form, scanner, type: .active, own: own) }
        bench.run(for: .seconds(3))
        #expect(!bench.heard(friend).isEmpty)
        #expect(Set(bench.heard(friend)) == [Bench.resolved(advertiser, own)])
        for scanner in [sleeper, stranger] {
            let heard = Set(bench.heard(scanner)), isPrivate = heard.allSatisfy { $0.randomKind == .resolvable }
            #expect(heard.count == 1 && isPrivate && heard.first?.kind == .random)
        }
        let responses = bench.reports(friend).filter { $0.type == .scanResponse }
        #expect(responses.isEmpty == (form == .extended))
    }

    /// What a peer with a key uses, in which mode it is listed, and whether it is heard.
    static let modes: [(own: HCI.OwnAddress, mode: HCI.LESetPrivacyMode.PrivacyMode, hasKey: Bool, isHeard: Bool)] = [
        (.public, .network, true, false), (.public, .device, true, true), (.resolvableOrPublic, .network, true, true),
        (.resolvableOrPublic, .device, true, true), (.public, .network, false, true), (.random, .network, true, true),
    ]

    @Test(
        "Network privacy mode hides a peer with an IRK that uses its identity address, and device mode does not",
        arguments: modes.indices,
        Form.allCases
    )
    func privacyModes(index: Int, form: Form) {
        let (own, mode, hasKey, isHeard) = Self.modes[index]
        var bench = Bench()
        let advertiser = bench.addPrivate(), scanner = bench.addPrivate(), other = bench.addPrivate()
        bench.list(scanner, on: advertiser)
        bench.list(advertiser, hasPeerKey: hasKey, mode: mode, on: scanner)
        bench.resolve(scanner)
        bench.announce(form, advertiser, own: own, peer: Bench.address(scanner))
        bench.listen(form, scanner)
        bench.listen(form, other)
        bench.run(for: .seconds(1))
        #expect(bench.heard(scanner).isEmpty != isHeard && !bench.heard(other).isEmpty)
        let expected =
            own == .resolvableOrPublic ? Bench.resolved(advertiser, own) : Bench.identity(advertiser, own)
        #expect(bench.heard(scanner).allSatisfy { $0 == expected })
    }

    @Test(
        "A peer on the accept list by its identity address is reported when it uses private addresses",
        arguments: Form.allCases
    )
    func acceptList(form: Form) {
        for isResolving in [true, false] {
            var bench = Bench()
            let wanted = bench.addPrivate(), other = bench.addPrivate(), scanner = bench.addPrivate()
            for advertiser in [wanted, other] {
                bench.list(advertiser, on: scanner)
                bench.list(scanner, on: advertiser)
                bench.announce(form, advertiser, own: .resolvableOrPublic, peer: Bench.address(scanner))
            }
            bench.resolve(scanner, isResolving)
            bench.send(.leAddDeviceToFilterAcceptList(.init(address: Bench.address(wanted))), scanner)
            bench.listen(form, scanner, policy: .acceptList)
            bench.run(for: .seconds(1))
            #expect(Set(bench.heard(scanner)) == (isResolving ? [Bench.resolved(wanted, .public)] : []))
        }
    }

    @Test("With duplicate filtering on, a peer is reported once however often its address changes")
    func duplicates() throws {
        var bench = Bench()
        let advertiser = bench.addPrivate(), friend = bench.addPrivate(), stranger = bench.addPrivate()
        bench.befriend(advertiser, friend)
        let timeout = try #require(PrivateAddressTimeout(wire: 1))
        bench.send(.leSetResolvablePrivateAddressTimeout(.init(timeout: timeout)), advertiser)
        bench.advertise(advertiser, own: .resolvableOrPublic, peer: Bench.address(friend))
        bench.scan(friend, filterDuplicates: true)
        bench.scan(stranger, filterDuplicates: true)
        bench.run(for: .seconds(10))
        #expect(bench.reports(friend).count == 1)
        #expect(9...11 ~= bench.reports(stranger).count)
    }

    /// Own address type, whether the peer is listed and with which keys; then the kind of address on the air.
    static let fallbacks: [(own: HCI.OwnAddress, isListed: Bool, hasLocalKey: Bool, isPrivate: Bool)] = [
        (.resolvableOrPublic, true, true, true), (.resolvableOrPublic, true, false, false),
        (.resolvableOrPublic, false, true, false), (.resolvableOrRandom, true, true, true),
        (.resolvableOrRandom, true, false, false), (.resolvableOrRandom, false, true, false),
        (.public, true, true, false), (.random, true, true, false),
    ]

    @Test(
        "A private address is generated only with a local IRK for the peer, with or without address resolution",
        arguments: fallbacks.indices,
        Form.allCases
    )
    func ownAddresses(index: Int, form: Form) {
        let (own, isListed, hasLocalKey, isPrivate) = Self.fallbacks[index]
        for isResolving in [true, false] {
            var bench = Bench()
            let advertiser = bench.addPrivate(), scanner = bench.addPrivate()
            bench.list(scanner, as: own, hasLocalKey: hasLocalKey, on: advertiser)
            bench.resolve(advertiser, isResolving)
            let peer = Bench.identity(isListed ? scanner : 9, own)
            bench.announce(form, advertiser, own: own, peer: peer)
            bench.listen(form, scanner)
            bench.run(for: .seconds(1))
            let heard = Set(bench.heard(scanner))
            #expect(heard.count == 1)
            let isMade = heard.contains { RandomAddress.isMade($0, with: Bench.key(advertiser)) }
            #expect(isMade == isPrivate && (isPrivate || heard == [Bench.identity(advertiser, own)]))
        }
    }
}
