import BLEWire

/// A change of a link that was asked for.
struct LinkTuner: Equatable {
    /// How many may wait on one link.
    static let limit = 64

    /// Which of the link's changes this is.
    let number: UInt32
    /// Who hears of the outcome; `nil` if the host itself asked.
    let client: ClientID?
    let tuning: LinkTuning

    /// Whether the outcome comes with the same event of the controller as that of `kind`.
    func isAnswered(with kind: Kind) -> Bool {
        switch (tuning, kind) {
        case (.parameters, .parameters), (.physicalLayers, .physicalLayers): true
        case (.parameters, .physicalLayers), (.physicalLayers, .parameters), (.dataLength, _): false
        }
    }

    /// The changes of which an event tells, since both ends must agree.
    enum Kind { case parameters, physicalLayers }
}

extension LinkDetails {
    /// Takes new connection parameters.
    mutating func set(
        _ interval: Reported<ConnectionInterval>,
        _ latency: Reported<PeripheralLatency>,
        _ timeout: Reported<SupervisionTimeout>
    ) {
        self.interval = interval.value
        self.latency = latency.value
        self.timeout = timeout.value
    }
}
