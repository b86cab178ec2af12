import BLEWire

// Who scans, and what they hear.
extension Host {
    mutating func startScanning(_ request: ScanRequest, for client: ClientID) {
        discovery.start(request, for: client, in: clients.phase(of: client))
        scanEpoch += 1
    }

    mutating func stopScanning(_ client: ClientID) {
        discovery.stop(client)
        if !isListening { reports.reset() }
    }

    mutating func received(_ reports: [HCI.LEAdvertisingReport.Report], at now: Instant) {
        for report in reports {
            guard let advertisement = ReportAssembler.advertisement(report) else {
                note(.dropped(.reserved(field: "Event Type"), .advertisement(report.address)))
                continue
            }
            heard(advertisement, at: now)
        }
    }

    mutating func received(_ reports: [HCI.LEExtendedAdvertisingReport.Report], at now: Instant) {
        for report in reports {
            switch self.reports.receive(report) {
            case .advertisement(let advertisement): heard(advertisement, at: now)
            case .incomplete, .ignored: break
            case .crowded: note(.limitReached(.partialReports))
            }
        }
    }

    /// Takes an advertisement; if it is of a peer that changes its address, those who wait for a link to it know where
    /// it is now.
    private mutating func heard(_ advertisement: Advertisement, at now: Instant) {
        tellListeners(advertisement)
        report(discovery.receive(advertisement, at: now))
        guard attachments.seeksPrivatePeers, advertisement.isConnectable else { return }
        let address = advertisement.address.onAir
        guard address.isResolvable || peers.isIdentity(address),
            attachments.move(peers.identifier(of: address), to: address)
        else { return }
        settle(at: now)
    }

    /// Tells clients of what they hear.
    mutating func report(_ findings: [Discovery.Finding]) {
        for finding in findings {
            let (peer, name, change) = peers.sighted(finding.address, finding.data)
            remember(change)
            let report = AdvertisementReport(
                peer: peer,
                address: finding.address,
                isConnectable: finding.isConnectable,
                rssi: finding.rssi,
                data: finding.data,
                name: name,
                advertisementLength: finding.advertisementLength,
                packet: finding.packet
            )
            for client in finding.clients { tell(client, .discovered(report)) }
        }
    }
}
