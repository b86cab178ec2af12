import BLEController
import BLECrypto
import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 4.3.2, 4.3.4, 6.2 and 6.4; Vol 4, Part E, 7.7.65.10 and 7.8.12.
@Suite("Connections between private devices")
struct PrivateConnectionTests {
    static let privateTypes: [HCI.OwnAddress] = [.resolvableOrPublic, .resolvableOrRandom]

    /// How long it takes until both are connected, or `false` after ten seconds.
    private func meet(_ bench: inout Bench, _ a: Int, _ b: Int, within limit: Duration = .seconds(10)) -> Bool {
        let end = bench.now + limit
        while bench.now < end, bench.connections(a).isEmpty || bench.connections(b).isEmpty {
            bench.run(for: .milliseconds(5))
        }
        return !bench.connections(a).isEmpty && !bench.connections(b).isEmpty
    }

    @Test(
        "Bonded peers connect by identity address while their private addresses rotate, and report the ones in use",
        arguments: UInt64(0)..<16,
        Form.allCases
    )
    func friends(seed: UInt64, form: Form) throws {
        let own = Self.privateTypes[Int(seed % 2)]
        var bench = Bench(seed: seed, loss: 0.2)
        let central = bench.addPrivate(), peripheral = bench.addPrivate()
        bench.befriend(central, peripheral, as: own)
        let timeout = try #require(PrivateAddressTimeout(wire: 1))
        bench.send(.leSetResolvablePrivateAddressTimeout(.init(timeout: timeout)), peripheral)
        bench.announce(form, peripheral, own: own, peer: Bench.identity(central, own))
        bench.run(for: .milliseconds(500 + Int(seed) * 300))
        // The identity as such, or of the kind that says that it is one.
        let identity = seed % 4 < 2 ? Bench.identity(peripheral, own) : Bench.resolved(peripheral, own)
        // A request to connect that is lost would leave a central alone.
        bench.air.conditions.loss = 0
        bench.seek(form, central, identity, own: own)
        let hasMet = meet(&bench, central, peripheral)
        #expect(hasMet)
        let (a, b) = try (#require(bench.connections(central).first), #require(bench.connections(peripheral).first))
        #expect(a.role == .central && a.peer == Bench.resolved(peripheral, own))
        #expect(b.role == .peripheral && b.peer == Bench.resolved(central, own))
        #expect(a.localPrivateAddress == b.peerPrivateAddress && a.peerPrivateAddress == b.localPrivateAddress)
        #expect(RandomAddress.isMade(a.localPrivateAddress, with: Bench.key(central)))
        #expect(RandomAddress.isMade(b.localPrivateAddress, with: Bench.key(peripheral)))
        bench.send([1, 2, 3], on: a.handle, central)
        bench.run(for: .seconds(3))
        #expect(bench.received(peripheral, b.handle) == [1, 2, 3])
    }

    @Test("A connected peer that advertises under a new address is not connected twice", arguments: Form.allCases)
    func once(form: Form) throws {
        var bench = Bench()
        let central = bench.addPrivate(), peripheral = bench.addPrivate()
        bench.befriend(central, peripheral)
        let timeout = try #require(PrivateAddressTimeout(wire: 1))
        for board in [central, peripheral] {
            bench.send(.leSetResolvablePrivateAddressTimeout(.init(timeout: timeout)), board)
        }
        let identity = Bench.address(peripheral)
        bench.announce(form, peripheral, own: .resolvableOrPublic, peer: Bench.address(central))
        bench.seek(form, central, identity, own: .resolvableOrPublic)
        let hasMet = meet(&bench, central, peripheral)
        #expect(hasMet)
        bench.announce(form, peripheral, own: .resolvableOrPublic, peer: Bench.address(central))
        bench.run(for: .seconds(3))
        bench.seek(form, central, identity, own: .resolvableOrPublic)
        #expect(bench.lastStatus(central) == .connectionAlreadyExists)
        bench.send(.leAddDeviceToFilterAcceptList(.init(address: identity)), central)
        bench.seek(form, central, nil, own: .resolvableOrPublic)
        #expect(bench.lastStatus(central) == .success)
        bench.run(for: .seconds(3))
        #expect(bench.connections(central).count == 1 && bench.connections(peripheral).count == 1)
    }

    /// Whether the central resolves, and what it looks for; then whether it is connected.
    static let searches: [(isResolving: Bool, usesAcceptList: Bool, isListed: Bool, isConnected: Bool)] = [
        (true, false, true, true), (true, true, true, true), (false, false, true, false), (false, true, true, false),
        (true, false, false, false), (true, true, false, false),
    ]

    @Test(
        "Only a controller that resolves addresses and has the IRK can connect to an identity address",
        arguments: searches.indices,
        Form.allCases
    )
    func searching(index: Int, form: Form) throws {
        let (isResolving, usesAcceptList, isListed, isConnected) = Self.searches[index]
        var bench = Bench()
        let central = bench.addPrivate(), peripheral = bench.addPrivate()
        bench.list(central, on: peripheral)
        if isListed { bench.list(peripheral, on: central) }
        bench.resolve(central, isResolving)
        bench.announce(form, peripheral, own: .resolvableOrPublic, peer: Bench.address(central))
        bench.send(.leAddDeviceToFilterAcceptList(.init(address: Bench.address(peripheral))), central)
        bench.seek(form, central, usesAcceptList ? nil : Bench.address(peripheral))
        let hasMet = meet(&bench, central, peripheral, within: .seconds(2))
        #expect(hasMet == isConnected)
        guard isConnected else { return }
        // The central is public here, and the peripheral resolves nothing.
        let (a, b) = try (#require(bench.connections(central).first), #require(bench.connections(peripheral).first))
        #expect(a.localPrivateAddress.value == 0 && a.peerPrivateAddress == b.localPrivateAddress)
        #expect(b.peer == Bench.address(central) && b.peerPrivateAddress.value == 0)
    }

    @Test("A connection to an over-the-air address succeeds whether it is resolved or not", arguments: [true, false])
    func asHeard(isResolving: Bool) throws {
        var bench = Bench()
        let central = bench.addPrivate(), peripheral = bench.addPrivate()
        bench.list(central, on: peripheral)
        bench.list(peripheral, on: central)
        bench.advertise(peripheral, own: .resolvableOrPublic, peer: Bench.address(central))
        bench.run(for: .milliseconds(100))
        bench.resolve(central, isResolving)
        let read = try bench.readAddress(of: Bench.address(central), isLocal: true, peripheral)
        let address = try #require(read)
        bench.initiate(central, to: address)
        let hasMet = meet(&bench, central, peripheral)
        #expect(hasMet)
        let event = try #require(bench.connections(central).first)
        #expect(event.peer == (isResolving ? Bench.resolved(peripheral, .public) : address))
        #expect(event.peerPrivateAddress.value == (isResolving ? address.value : 0))
    }

    /// What the central uses, how it is listed by the peripheral, and whether that lets it connect.
    static let callers: [(own: HCI.OwnAddress, mode: HCI.LESetPrivacyMode.PrivacyMode?, isAccepted: Bool, lets: Bool)] =
        [
            (.resolvableOrPublic, .network, true, true), (.public, .network, true, false),
            (.public, .device, true, true),
            (.resolvableOrPublic, .network, false, false), (.resolvableOrPublic, nil, true, false),
            (.public, nil, true, true),
        ]

    @Test(
        "An advertiser applies its accept list and privacy mode to the identity of the caller",
        arguments: callers.indices,
        Form.allCases
    )
    func connecting(index: Int, form: Form) {
        let (own, mode, isAccepted, lets) = Self.callers[index]
        var bench = Bench()
        let central = bench.addPrivate(), peripheral = bench.addPrivate()
        bench.list(peripheral, hasPeerKey: false, on: central)
        if let mode { bench.list(central, mode: mode, on: peripheral) }
        bench.resolve(peripheral)
        let accepted = Bench.address(isAccepted ? central : 9)
        bench.send(.leAddDeviceToFilterAcceptList(.init(address: accepted)), peripheral)
        bench.announce(form, peripheral, own: .public, policy: .connectionsFromAcceptList)
        bench.seek(form, central, Bench.address(peripheral), own: own)
        bench.run(for: .seconds(2))
        #expect(bench.connections(peripheral).isEmpty != lets)
    }

    @Test("An advertiser answers scan requests from identities on its accept list", arguments: callers.indices)
    func scanners(index: Int) throws {
        let (own, mode, isAccepted, lets) = Self.callers[index]
        for properties in [[.legacy, .connectable, .scannable], [.scannable]] as [HCI.AdvertisingProperties] {
            var bench = Bench()
            let scanner = bench.addPrivate(), advertiser = bench.addPrivate()
            bench.list(advertiser, hasPeerKey: false, on: scanner)
            if let mode { bench.list(scanner, mode: mode, on: advertiser) }
            bench.resolve(advertiser)
            let accepted = Bench.address(isAccepted ? scanner : 9)
            bench.send(.leAddDeviceToFilterAcceptList(.init(address: accepted)), advertiser)
            let policy = HCI.AdvertisingFilterPolicy.scansFromAcceptList
            let parameters = Bench.parameters(0, properties, policy: policy, reportsScanRequests: true)
            bench.send(.leSetExtendedAdvertisingParameters(parameters), advertiser)
            bench.setData([2, 1, 6], of: 0, isResponse: true, advertiser)
            #expect(bench.enable(0, advertiser) == .success)
            bench.listen(.extended, scanner, type: .active, own: own)
            bench.run(for: .seconds(2))
            #expect(bench.extendedReports(scanner).contains { $0.type.contains(.scanResponse) } == lets)
            let asked = bench.events(advertiser).compactMap { event -> DeviceAddress? in
                if case .leScanRequestReceived(let event) = event { event.scanner } else { nil }
            }
            let name = own == .public ? Bench.address(scanner) : Bench.resolved(scanner, own)
            #expect(Set(asked) == (lets ? [name] : []))
        }
    }

    @Test("The legacy connection event reports a peer's identity address")
    func olderForm() throws {
        var bench = Bench()
        let central = bench.addPrivate(), peripheral = bench.addPrivate()
        bench.befriend(central, peripheral)
        bench.send(.leSetEventMask(.init(mask: .standard)), central)
        bench.advertise(peripheral, own: .resolvableOrPublic, peer: Bench.address(central))
        bench.initiate(central, to: Bench.address(peripheral), own: .resolvableOrPublic)
        bench.run(for: .seconds(1))
        guard case .leConnectionComplete(let event)? = bench.events(central).first else {
            Issue.record("nobody is connected")
            return
        }
        #expect(event.status == .success && event.peer == Bench.address(peripheral))
    }
}
