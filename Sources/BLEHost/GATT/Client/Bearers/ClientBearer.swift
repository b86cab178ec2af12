import BLEWire

/// The client's part of one bearer: the current transaction, and the procedure that it belongs to.
struct ClientBearer {
    private enum Work {
        case nothing
        /// A procedure that consists of a single request and a single response.
        case single(SingleRequest)
        /// The procedure in ``ClientBearer/procedure``.
        case procedure
    }

    let id: BearerID
    /// The MTU, in octets; `nil` for the unenhanced bearer, whose MTU is negotiated.
    var mtu: Int?
    private var transaction = ATTClientBearer()
    private var work = Work.nothing
    private var procedure = InPlace<ClientProcedure>()
    /// The value to write if ``Work/single(_:)`` is a write; otherwise empty.
    private var written: [UInt8] = []

    init(_ id: BearerID, mtu: Int? = nil) {
        self.id = id
        self.mtu = mtu
    }

    /// True if a procedure is in progress.
    ///
    /// The getter is `mutating`, like that of ``isFree``, to avoid a copy.
    var isRunning: Bool {
        mutating get {
            if case .nothing = work { false } else { true }
        }
    }

    /// True if a procedure can be started.
    var isFree: Bool { mutating get { !isRunning && transaction.isIdle } }

    /// True if the bearer has become unusable because a transaction timed out.
    var hasTimedOut: Bool { transaction.hasTimedOut }

    /// The time at which the transaction times out; `nil` if none is in progress.
    var deadline: Instant? { transaction.deadline }

    /// The procedure in progress; `nil` if there is none.
    var running: ClientProcedure? {
        switch work {
        case .nothing: nil
        case .single(let single): ClientProcedure(single, writing: written)
        case .procedure: procedure.value
        }
    }

    /// Starts a procedure that has not sent a request yet, and returns its first step.
    mutating func begin(
        _ next: consuming ClientProcedure,
        _ database: inout PeerDatabase,
        mtu: Int
    ) -> ProcedureStep<Procedure.Outcome> {
        precondition(!isRunning, "only one procedure may run at a time")
        let step = next.begin(&database, mtu: mtu)
        work = .procedure
        procedure.put(next)
        return step
    }

    /// Starts a procedure with a single request, which the caller sends now.
    @inline(__always)
    mutating func begin(_ request: SingleRequest, writing value: [UInt8], _ opcode: ATT.Opcode, at now: Instant) {
        transaction.beginFast(opcode, at: now)
        work = .single(request)
        if request.isWrite { written = value }
    }

    /// Processes the response to a single-request procedure, and ends the procedure.
    ///
    /// `count` is the number of octets after the opcode. Returns `nil`, without side effects, if the packet is not that
    /// response.
    @inline(__always)
    mutating func answered(_ kind: AttributePacket.Kind, octets count: Int) -> SingleRequest? {
        guard case .single(let single) = work, single.isAnswered(by: kind, octets: count) else { return nil }
        work = .nothing
        if single.isWrite { written = [] }
        transaction.end()
        return single
    }

    /// Records that the next request of the procedure is being sent.
    mutating func ask(_ request: ATT.Opcode, at now: Instant) {
        procedure.update { $0.asked() }
        transaction.begin(request, at: now)
    }

    mutating func receive(_ packet: ATTPacket) -> ATTClientBearer.OnReceive { transaction.receive(packet) }

    mutating func receiveMalformed(_ pdu: Span<UInt8>) -> ATTClientBearer.OnReceive {
        transaction.receiveMalformed(pdu)
    }

    mutating func expire(at now: Instant) -> ATTClientBearer.OnExpire { transaction.expire(at: now) }

    /// Passes a response to the procedure in progress, and returns the next step of the procedure.
    ///
    /// Returns `nil` if no procedure is in progress, or if the procedure has ended because no client is waiting for its
    /// result.
    mutating func answer(
        _ answer: ATTAnswer,
        _ database: inout PeerDatabase,
        mtu: Int
    ) -> ProcedureStep<Procedure.Outcome>? {
        unpack()
        guard case .proceed(let step) = procedure.update({ $0.receive(answer, &database, mtu: mtu) }) else {
            _ = end()
            return nil
        }
        return step
    }

    /// Removes and returns the procedure in progress; `nil` if there is none.
    mutating func end() -> ClientProcedure? {
        unpack()
        work = .nothing
        return procedure.take()
    }

    /// Changes the procedure in progress, if there is one.
    mutating func update(_ change: (inout ClientProcedure) -> Void) {
        unpack()
        procedure.update(change)
    }

    /// Converts a procedure with a single request into a general one, which can send further requests.
    private mutating func unpack() {
        guard case .single(let single) = work else { return }
        work = .procedure
        procedure.put(ClientProcedure(single, writing: written))
    }
}
