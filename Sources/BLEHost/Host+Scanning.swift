import BLEWire

// Who scans, and what they hear.
extension Host {
    mutating func startScanning(_ request: ScanRequest, for client: ClientID) {
        discovery.start(request, for: client, in: clients.phase(of: client))
        scanEpoch += 1
    }

    mutating func stopScanning(_ client: ClientID) {
        discovery.stop(client)
        if !discovery.isWanted { reports.reset() }
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
        let findings = discovery.receive(advertisement, at: now), address = advertisement.address.onAir
        let isSought = attachments.seeksPrivatePeers && advertisement.isConnectable && address.isResolvable
        guard isSought || !findings.isEmpty else { return }
        let peer = peers.identifier(of: address)
        report(findings, from: (address, peer))
        if isSought, attachments.move(peer, to: address) { settle(at: now) }
    }

    /// Tells clients of what they hear; `source` is an advertiser of which it is known who it is.
    mutating func report(_ findings: [Discovery.Finding], from source: (DeviceAddress, PeerIdentifier)? = nil) {
        for finding in findings {
            let peer: PeerIdentifier
            if let source, source.0 == finding.address.onAir {
                peer = source.1
            } else {
                peer = peers.identifier(of: finding.address)
            }
            if let name = AdvertisingData(decoding: finding.data).localName {
                remember(peers.advertised(name, by: peer))
            }
            let report = AdvertisementReport(
                peer: peer,
                address: finding.address,
                isConnectable: finding.isConnectable,
                rssi: finding.rssi,
                data: finding.data,
                name: peers.name(of: peer),
                advertisementLength: finding.advertisementLength,
                packet: finding.packet
            )
            tell(finding.client, .discovered(report))
        }
    }
}
