import BLECrypto
import BLEWire

// Setup, recovery and loss of the controller.
extension Host {
    /// Resets the controller and starts its setup.
    mutating func setUp(at now: Instant) {
        commands.reset(at: now)
        let setup = ControllerSetup(
            address: configuration.staticAddress,
            fallback: fallbackAddress,
            isPrivate: configuration.isPrivate,
            doubting: unknownCommands
        )
        phase = .settingUp(setup)
        submit(setup.first, for: .setup, at: now)
    }

    /// Processes the controller's answer to a setup command.
    mutating func setupAnswered(_ status: HCI.Status, _ answer: HCI.CommandComplete?, at now: Instant) {
        guard case .settingUp(var setup) = phase else { return }
        let outcome: ControllerSetup.OnAnswer
        do throws(PacketError) { outcome = try setup.answered(status, answer) } catch {
            note(.dropped(error, .event))
            outcome = setup.skip()
        }
        phase = .settingUp(setup)
        switch outcome {
        case .proceed(let command):
            noteRadio(setup.controller)
            submit(command, for: .setup, at: now)
        case .ready(let controller): begin(with: controller)
        case .refused(let reason):
            note(.controllerRefused(reason))
            phase = .idle
            changeState(to: .unsupported)
        case .broken: recover(at: now)
        }
    }

    /// Asks the owner for the stored peers of a virtual radio, if the controller has identified itself as one.
    private mutating func noteRadio(_ controller: ControllerDescription) {
        guard let radio = controller.virtualRadio, radio != virtualRadio else { return }
        virtualRadio = radio
        outbox.append(.loadPeers(radio))
    }

    private mutating func begin(with controller: ControllerDescription) {
        phase = .ready(controller)
        controllerManufacturer = controller.company
        virtualRadio = controller.virtualRadio
        isRecovering = false
        scheduler.reset(size: controller.bufferSize, count: controller.bufferCount)
        scanner.reset()
        initiator.reset(capacity: controller.acceptListSize)
        peers.use(controller.address)
        let key = HostIdentity.resolvingKey(of: controller.address, secret: configuration.identifierSecret)
        privacy?.reset(key: key, capacity: controller.resolvingListCapacity)
        let isRandom = privacy != nil || controller.address.kind == .random
        let hasSets = controller.usesExtendedCommands
        _ = advertiser.reset(setsAddress: hasSets && isRandom, hasSets: hasSets)
        _ = testerSets.reset(usesExtendedCommands: controller.usesExtendedCommands)
        changeState(to: .poweredOn)
    }

    /// Replaces the description of the controller.
    ///
    /// Has no effect unless the controller is ready.
    mutating func describe(_ controller: ControllerDescription) {
        guard case .ready = phase else { return }
        phase = .ready(controller)
    }

    /// Resets a controller that misbehaves; if a reset has already been tried, asks the owner to reset the transport.
    mutating func recover(at now: Instant) {
        tearDown(at: now, isSwitchedOff: state == .poweredOff)
        if state == .poweredOn { changeState(to: .resetting) }
        guard !isRecovering else {
            outbox.append(.resetTransport)
            return
        }
        isRecovering = true
        setUp(at: now)
    }

    /// Ends everything that needs the controller, and fails all pending requests.
    ///
    /// If Bluetooth was only switched off (`isSwitchedOff`), published channels keep their PSMs.
    mutating func tearDown(at now: Instant, isSwitchedOff: Bool = false) {
        phase = .idle
        commands.reset(at: now)
        reports.reset()
        let hadLinks = links.values.contains { $0.phase == .up }
        for handle in links.handles { linkDown(handle, .poweredOff, channels: .poweredOff, at: now) }
        if hadLinks { announceLinks() }
        for clientConnection in clientConnections.all { endConnection(clientConnection, .poweredOff) }
        for entry in testerSets.reset(usesExtendedCommands: false) { report(to: entry.client, .tester(entry.event)) }
        listeners.stopAll()
        for client in advertiser.reset(setsAddress: false) {
            report(to: client, .server(.advertisingStarted(.poweredOff)))
        }
        discovery.stopAll()
        scanner.reset()
        initiator.reset(capacity: 0)
        scheduler.reset(size: 1, count: 0)
        withLayers(at: now) { attributes, channels in
            if !isSwitchedOff { channels.reset() }
            attributes.reset(at: now)
        }
    }

    /// Changes the state and reports it to all clients.
    ///
    /// Has no effect if the state is the same as before.
    mutating func changeState(to state: HostState) {
        guard state != self.state else { return }
        self.state = state
        for client in clients.clients { announceState(to: client.id, client.role) }
    }

    /// Reports the state to a client.
    ///
    /// If Bluetooth is on, a central first receives the features of the controller.
    mutating func announceState(to client: ClientID, _ role: ClientRole) {
        if state == .poweredOn, role == .central, case .ready(let controller) = phase {
            let features = controller.hostFeatures
            if !features.isEmpty { report(to: client, .featuresChanged(features)) }
        }
        report(to: client, .stateChanged(state))
    }

    mutating func note(_ note: Note) { outbox.append(.note(note)) }

    /// Sends an event to a client, if the client's session is open.
    mutating func report(to client: ClientID, _ event: ClientEvent) {
        guard clients.role(of: client) != nil else { return }
        outbox.report(to: client, event)
    }
}
