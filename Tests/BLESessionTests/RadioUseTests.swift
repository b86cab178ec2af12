import BLEHost
import BLESession
import BLEWire
import Testing

@Suite("Radio use of a session")
struct RadioUseTests {
    private static let service = ServiceDefinition(id: LocalAttributeID(rawValue: 1), uuid: .short(0x180D))

    /// A session of a server with a service that advertises, and scans besides.
    private var busy: RadioUse {
        var use = RadioUse()
        use.note(.scan(ScanRequest()))
        use.note(.service(.addService(Self.service)))
        use.note(.server(.serviceAdded(Self.service.id, nil)))
        use.note(.server(.startAdvertising(AdvertisingRequest(localName: nil))))
        use.note(.server(.advertisingStarted(nil)))
        return use
    }

    @Test("Radio use lists what the session requested and got, and counts its messages")
    func counts() {
        #expect(busy.isScanning && busy.isAdvertising && busy.services == 1)
        #expect(busy.requests == 3 && busy.events == 2)
    }

    @Test(
        "An entry ends when the app gives it up",
        arguments: [
            (ClientRequest.stopScan, (false, true, 1)), (.server(.stopAdvertising), (true, false, 1)),
            (.service(.removeService(service.id)), (true, true, 0)), (.service(.removeAllServices), (true, true, 0)),
        ] as [(ClientRequest, (Bool, Bool, UInt32))]
    )
    func givenUp(request: ClientRequest, left: (Bool, Bool, UInt32)) {
        var use = busy
        use.note(request)
        #expect((use.isScanning, use.isAdvertising, use.services) == left)
    }

    @Test("An entry ends when it fails, or with the radio")
    func failures() {
        var use = busy
        use.note(.server(.advertisingStarted(.poweredOff)))
        use.note(.server(.serviceAdded(Self.service.id, .poweredOff)))
        #expect(use.isScanning && !use.isAdvertising && use.services == 1)
        use.note(.stateChanged(.resetting))
        #expect(!use.isScanning && use.services == 0)
    }

    @Test("Removing what does not exist changes nothing")
    func nothing() {
        var use = RadioUse()
        use.note(.service(.removeService(Self.service.id)))
        #expect(use.services == 0)
    }

    @Test("A returning app's radio use is what continued without it")
    func restored() {
        var use = RadioUse()
        use.note(.restored(.peripheral(PreservedPeripheral(services: [Self.service]))))
        #expect(!use.isAdvertising && use.services == 1)
        use.note(.restored(.central(PreservedCentral(scan: ScanRequest()))))
        #expect(use.isScanning && use.services == 0)
    }
}
