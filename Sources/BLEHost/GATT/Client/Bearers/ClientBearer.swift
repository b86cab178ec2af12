import BLEWire

/// The client's side of one bearer: the transaction that is under way on it, and the procedure that this is part of.
struct ClientBearer {
    private enum Work {
        case nothing
        /// What one packet asks and one answers.
        case single(SingleRequest)
        /// The one in the slot.
        case procedure
    }

    let id: BearerID
    /// The largest packet that both ends take, in octets; `nil` if that is negotiated, as on the unenhanced bearer.
    var mtu: Int?
    private var transaction = ATTClientBearer()
    private var work = Work.nothing
    private var procedure = Slot<ClientProcedure>()
    /// What is written by what one packet asks.
    private var written: [UInt8] = []

    init(_ id: BearerID, mtu: Int? = nil) {
        self.id = id
        self.mtu = mtu
    }

    /// Whether something is under way; `mutating`, as is ``isFree``, so that it is looked at where it lies.
    var isRunning: Bool {
        mutating get {
            if case .nothing = work { false } else { true }
        }
    }

    /// Whether something can be begun.
    var isFree: Bool { mutating get { !isRunning && transaction.isIdle } }

    /// Whether nothing will ever be answered here again.
    var isDead: Bool { transaction.isDead }

    /// When a transaction is overdue.
    var deadline: Instant? { transaction.deadline }

    /// What is under way.
    var running: ClientProcedure? {
        switch work {
        case .nothing: nil
        case .single(let single): ClientProcedure(single, writing: written)
        case .procedure: procedure.value
        }
    }

    /// Begins a procedure, which has not asked yet.
    mutating func begin(
        _ next: consuming ClientProcedure,
        _ database: inout PeerDatabase,
        mtu: Int
    ) -> ProcedureStep<Procedure.Outcome> {
        precondition(!isRunning, "one procedure is under way at a time")
        let step = next.begin(&database, mtu: mtu)
        work = .procedure
        procedure.put(next)
        return step
    }

    /// Begins a request that one packet asks, which goes out now.
    @inline(__always)
    mutating func begin(_ request: SingleRequest, writing value: [UInt8], _ opcode: ATT.Opcode, at now: Instant) {
        transaction.beginAtOnce(opcode, at: now)
        work = .single(request)
        if request.isWrite { written = value }
    }

    /// Takes the response to a request that one packet asks, if it is one; `nil`, and nothing has happened, if not.
    @inline(__always)
    mutating func answered(_ kind: AttributePacket.Kind, octets count: Int) -> SingleRequest? {
        guard case .single(let single) = work, single.isAnswered(by: kind, octets: count) else { return nil }
        work = .nothing
        if single.isWrite { written = [] }
        transaction.end()
        return single
    }

    /// Notes that the procedure's next request goes out.
    mutating func ask(_ request: ATT.Opcode, at now: Instant) {
        procedure.update { $0.asked() }
        transaction.begin(request, at: now)
    }

    mutating func receive(_ packet: ATTPacket) -> ATTClientBearer.OnReceive { transaction.receive(packet) }

    mutating func receiveMalformed(_ pdu: Span<UInt8>) -> ATTClientBearer.OnReceive {
        transaction.receiveMalformed(pdu)
    }

    mutating func expire(at now: Instant) -> ATTClientBearer.OnExpire { transaction.expire(at: now) }

    /// Hands the answer to the procedure that asked; the next step, or `nil` if nobody waits any more.
    mutating func answer(
        _ answer: ATTAnswer,
        _ database: inout PeerDatabase,
        mtu: Int
    ) -> ProcedureStep<Procedure.Outcome>? {
        unpack()
        guard case .go(let step) = procedure.update({ $0.receive(answer, &database, mtu: mtu) }) else {
            _ = end()
            return nil
        }
        return step
    }

    /// Takes away what is under way.
    mutating func end() -> ClientProcedure? {
        unpack()
        work = .nothing
        return procedure.take()
    }

    /// Changes what is under way, if something is.
    mutating func update(_ change: (inout ClientProcedure) -> Void) {
        unpack()
        procedure.update(change)
    }

    /// Has what one packet asks be a procedure, which more may become of.
    private mutating func unpack() {
        guard case .single(let single) = work else { return }
        work = .procedure
        procedure.put(ClientProcedure(single, writing: written))
    }
}
