package import BLEHost
package import BLEWire

/// Figures about a session's use of the radio.
package struct RadioUse: Equatable, Packet {
    package private(set) var isScanning = false
    package private(set) var isAdvertising = false
    /// The number of services that the session has published.
    package private(set) var services: UInt32 = 0
    /// The number of requests that the app has made.
    package private(set) var requests: UInt64 = 0
    /// The number of events that the app has received.
    package private(set) var events: UInt64 = 0

    package init() {}

    /// Creates the figures of a kept session whose app has ended.
    package init(of state: PreservedState) {
        switch state {
        case .central(let state): isScanning = state.scan != nil
        case .peripheral(let state):
            isAdvertising = state.advertisement != nil
            services = UInt32(clamping: state.services.count)
        }
    }

    /// Records a request from the app.
    package mutating func note(_ request: ClientRequest) {
        requests &+= 1
        switch request {
        case .scan: isScanning = true
        case .stopScan: isScanning = false
        case .server(.stopAdvertising): isAdvertising = false
        case .service(.removeService): services -= min(services, 1)
        case .service(.removeAllServices): services = 0
        default: break
        }
    }

    /// Counts an event that changes no other figure.
    package mutating func noteEvent() { events &+= 1 }

    /// Records an event that the app receives.
    package mutating func note(_ event: ClientEvent) {
        noteEvent()
        switch event {
        case .stateChanged(let state) where state != .poweredOn:
            (isScanning, isAdvertising, services) = (false, false, 0)
        case .server(.advertisingStarted(let failure)): isAdvertising = failure == nil
        case .server(.serviceAdded(_, nil)): services &+= 1
        case .restored(let state):
            let use = Self(of: state)
            (isScanning, isAdvertising, services) = (use.isScanning, use.isAdvertising, use.services)
        default: break
        }
    }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.flag(&isScanning, "Scanning")
        try wire.flag(&isAdvertising, "Advertising")
        try wire.integer(&services, "Services")
        try wire.integer(&requests, "Requests")
        try wire.integer(&events, "Events")
    }
}
