import BLEHost
import BLEWire
import DBus

/// A call to `ConnectDevice` for a device that has no object; it waits for an advertisement of the device.
struct DeviceSearch: Sendable {
    let caller: Caller
    /// The over-the-air address of the device.
    let address: DeviceAddress
    /// The time at which the call fails unless the device is connected.
    let deadline: Instant

    func matches(_ report: AdvertisementReport, of client: String) -> Bool {
        report.isConnectable && caller.sender == client && report.address.onAir == address
    }
}

// The method ConnectDevice. The daemon's clients name a peer by an identifier, which they learn only from what the host
// has received of the peer. A device without an object must therefore be received first.
extension BlueZBridge {
    /// Connects the caller's session to the device with the address in `argument`.
    ///
    /// If the device has no object, the session scans for the device first. The whole call takes at most
    /// ``connectionTimeout``.
    mutating func connectDevice(_ argument: BusValue?, _ caller: Caller) throws(BlueZError) {
        guard isPowered else { throw .notReady }
        let address = try Self.address(in: argument)
        if let device = devices.all.first(where: { $0.address.onAir == address }) {
            return try connect(device.peer, for: .connectDevice(caller))
        }
        try check(SessionKey(caller.sender, .central))
        let own = searches.count { $0.caller.sender == caller.sender }
        guard searches.count < Limit.searches, own < Limit.clientSearches else { throw .limitReached }
        let search = DeviceSearch(caller: caller, address: address, deadline: now + Self.connectionTimeout)
        searches.append(search)
        wait(until: search.deadline)
        updateScan(of: caller.sender)
    }

    /// Returns the address in the argument of a call to `ConnectDevice`.
    ///
    /// - Throws: `InvalidArguments` without a valid address, `NotSupported` for BR/EDR, which BlueZ assumes if there is
    ///   no address type.
    private static func address(in argument: BusValue?) throws(BlueZError) -> DeviceAddress {
        let kind: DeviceAddress.Kind?
        switch argument?[key: "AddressType"] {
        case nil: kind = nil
        case let type? where type.text == "public": kind = .public
        case let type? where type.text == "random": kind = .random
        default: throw .invalidArguments
        }
        let text = argument?[key: "Address"]?.text
        guard let address = text.flatMap({ DeviceAddress($0, kind ?? .public) }), address.value != 0 else {
            throw .invalidArguments
        }
        guard kind != nil else { throw .notSupported }
        return address
    }

    /// Returns whether a program waits for the advertisement of a device.
    func isSearching(_ client: String) -> Bool { searches.contains { $0.caller.sender == client } }

    /// Connects the program that has searched for the device of this advertisement; `error` refuses the program's calls
    /// instead.
    mutating func finishSearches(for report: AdvertisementReport, of client: String, _ error: BlueZError? = nil) {
        let finished = searches.filter { $0.matches(report, of: client) }
        searches.removeAll { $0.matches(report, of: client) }
        for search in finished {
            do throws(BlueZError) {
                if let error { throw error }
                try connect(report.peer, for: .connectDevice(search.caller), within: search.deadline - now)
            } catch {
                refuse(search.caller, error)
            }
        }
        updateScan(of: client)
        // The device is removed again unless it gets connected.
        if sweepTime == nil { sweepTime = now + Self.deviceLifetime }
    }

    /// Ends a program's searches; `error` is the error for its calls, `nil` if the program has left the bus.
    mutating func endSearches(of client: String, _ error: BlueZError? = nil) {
        let ended = searches.filter { $0.caller.sender == client }
        guard !ended.isEmpty else { return }
        searches.removeAll { $0.caller.sender == client }
        updateScan(of: client)
        guard let error else { return }
        for search in ended { refuse(search.caller, error) }
    }

    mutating func expireSearches() {
        let expired = searches.filter { $0.deadline <= now }
        searches.removeAll { $0.deadline <= now }
        for search in expired {
            updateScan(of: search.caller.sender)
            refuse(search.caller, .connectionAborted)
        }
    }
}
