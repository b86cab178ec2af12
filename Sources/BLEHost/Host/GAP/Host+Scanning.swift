import BLEWire

// Scanning, and advertising reports.
extension Host {
    mutating func startScanning(_ request: ScanRequest, _ number: UInt32, for client: ClientID) {
        discovery.start(request, for: client, in: clients.phase(of: client))
        if number != 0 { report(to: client, .scanBegan(number)) }
        scanEpoch += 1
    }

    mutating func stopScanning(_ client: ClientID) {
        discovery.stop(client)
        if !isListening { reports.reset() }
    }

    /// Processes an event with legacy advertising reports; returns `false` for other packets.
    @inline(never)
    mutating func receiveReports(_ packet: Span<UInt8>, at now: Instant) -> Bool {
        if case .idle = phase { return false }
        do throws(PacketError) {
            return try HCI.LEAdvertisingReport.forEach(in: packet) { type, address, data, rssi in
                guard case .ready = phase else { return }
                scanner.noteReport()
                guard let advertisement = ReceivedAdvertisement(type, address, rssi) else {
                    return note(.dropped(.reserved(field: "Event Type"), .advertisement(address)))
                }
                receive(advertisement, data, at: now)
            }
        } catch {
            note(.dropped(error, .event))
            return true
        }
    }

    mutating func received(_ reports: [HCI.LEExtendedAdvertisingReport.Report], at now: Instant) {
        for report in reports {
            switch self.reports.receive(report) {
            case .advertisement(let advertisement, let data): receive(advertisement, data.span, at: now)
            case .incomplete, .ignored: break
            case .displacedOldest: note(.limitReached(.partialReports))
            }
        }
    }

    mutating func received(_ reports: [HCI.LEDirectedAdvertisingReport.Report], at now: Instant) {
        let data: [UInt8] = []
        for report in reports {
            var advertisement = ReceivedAdvertisement(address: report.address, isConnectable: true, rssi: report.rssi)
            advertisement.packet.isDirected = true
            reportAdvertisement(advertisement, data.span, at: now)
        }
    }

    /// Reports an advertisement, and updates pending connections to its sender.
    ///
    /// If the sender has a new private address, pending connections to it use that address.
    private mutating func receive(_ advertisement: ReceivedAdvertisement, _ data: Span<UInt8>, at now: Instant) {
        reportAdvertisement(advertisement, data, at: now)
        guard clientConnections.awaitsAdvertisements, advertisement.isConnectable else { return }
        let address = advertisement.address.onAir
        guard address.isResolvable || peers.isProvedIdentity(address),
            clientConnections.updatePendingAddress(of: peers.identifier(of: address), to: address)
        else { return }
        proceed(at: now)
    }

    /// Reports an advertisement to test suites and clients.
    private mutating func reportAdvertisement(
        _ advertisement: ReceivedAdvertisement,
        _ data: Span<UInt8>,
        at now: Instant
    ) {
        if listeners.hasSessions { notifyListeners(advertisement, [UInt8](copying: data)) }
        discovery.receive(advertisement, data, at: now, with: &peers, into: &outbox)
    }
}
