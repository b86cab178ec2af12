/// The limits on what a host stores for peers and clients.
///
/// | limit | at the limit |
/// | --- | --- |
/// | ``links`` | further and pending connection requests fail with ``Failure/limitReached`` (``LinkShortage``) |
/// | ``pendingPeers``, ``pendingPeersOfClient`` | further connection requests fail with ``Failure/limitReached`` |
/// | ``queuedFrames`` | a packet for the link is dropped, with a note |
/// | ``queuedFramesOfClient`` | further write commands and values wait until earlier ones of the client are sent |
/// | ``queuedCommands`` | a client's request that needs a command fails with ``Failure/limitReached``, with a note |
/// | ``advertisers`` | the peers that have not been seen for the longest time are forgotten |
/// | ``knownPeers`` | the least recently used unbonded peer is forgotten; if all are bonded, no peer is added |
/// | ``unattendedBonds`` | the least recently used unattended bond is removed, with a note |
/// | ``bondsWithoutUser`` | an unattended bond is removed; if there is none, the peer is not bonded, with a note |
/// | ``introducedPeers`` | of the peers that are not stored, a new client receives only the most recently discovered |
/// | ``peerServices`` | further services are not stored, so clients cannot find the connected peer by them |
/// | ``waitingReports`` | the oldest report is delivered without waiting for its scan response |
/// | ``partialReports`` | the oldest incomplete advertisement is dropped, with a note |
/// | ``queuedRequests`` | the request fails with ``Failure/limitReached`` |
/// | ``queuedWriteCommands`` | the write command is dropped, with a note |
/// | ``queuedValues`` | the value is not sent, with a note |
/// | ``peerRequests`` | the request is dropped, with a note |
/// | ``queuedIndications`` | the indication is dropped, with a note |
/// | ``gatheredValues`` | the waiting values are sent immediately |
/// | ``handlesOfApp`` | adding a service fails with ``Failure/limitReached`` |
/// | ``publishedChannelsOfApp`` | publishing a channel fails with ``Failure/limitReached`` |
/// | ``preparedParts`` | the prepared write fails with the error "Prepare Queue Full" |
/// | ``enhancedBearers`` | further bearers are refused for lack of resources |
/// | ``channelMTU`` | a longer SDU closes the channel |
/// | ``channelPacket`` | a longer packet closes the channel |
/// | ``channelCredits`` | the peer gets no credits until the client has consumed data |
/// | ``queuedChannelOctets`` | the channel is closed with ``Failure/limitReached`` |
/// | ``discoveredAttributes`` | the discovery fails with ``Failure/limitReached``, and its results are dropped |
/// | ``cachedAttributes`` | the peer's database is not stored when the peer disconnects |
/// | ``attributeLength`` | longer values are refused |
package struct Limits: Equatable, Sendable {
    /// Links, in both roles.
    ///
    /// Most controllers support fewer links, and refuse further ones.
    package var links = 250
    /// Connections and pending connection requests of all clients together.
    package var pendingPeers = 1024
    /// Connections and pending connection requests of one client.
    package var pendingPeersOfClient = 256
    /// Packets on one fixed channel of a link that wait for a controller buffer.
    ///
    /// Clients' write commands and notified values on the ATT channel are not included. Their limit is four times as
    /// high, and is only reached if 32 clients have queued ``queuedFramesOfClient`` each.
    package var queuedFrames = 1024
    /// Write commands of one client on one link that wait for a controller buffer; also its notified values.
    ///
    /// The packets of all clients are sent in the order in which they were queued, so a packet waits for at most this
    /// many packets of each other client.
    package var queuedFramesOfClient = 128
    /// Queued HCI commands.
    package var queuedCommands = 256
    /// Received peers whose address and name are stored.
    ///
    /// While a client scans, the latest data of half of these peers are stored, too. The calculated total is less than
    /// 20 MB: 12 MB for 16,384 advertisers with at most 96 octets and a name each, and 5 MB for the addresses. The
    /// limit is higher on a machine with more memory (``init(memory:)``).
    package var advertisers = 32_768
    /// Peers that a client has connected to or has tried to connect to, in memory and in storage.
    package var knownPeers = 1024
    /// Bonds that neither the user nor an app asked for (“unattended”); at most half of ``knownPeers``.
    package var unattendedBonds = 128
    /// Bonds that the user did not ask for, including ``unattendedBonds``; at most three quarters of ``knownPeers``, to
    /// leave room for peers that the user pairs with.
    package var bondsWithoutUser = 768
    /// Peers that are reported to a new client because they were received, not because they are stored.
    package var introducedPeers = 1024
    /// Service UUIDs of one peer that are stored from one link to the next.
    package var peerServices = 256
    /// Advertisements that wait for their scan response.
    package var waitingReports = 256
    /// Incomplete extended advertisements.
    package var partialReports = 16
    /// Queued requests of one client to one peer.
    package var queuedRequests = 512
    /// Write commands of one client to one peer that wait for the client's earlier requests and write commands.
    package var queuedWriteCommands = 1024
    /// Notified values of one client on one bearer that wait for the client's earlier values.
    package var queuedValues = 1024
    /// Requests from one peer that wait while an app answers an earlier request from the peer.
    package var peerRequests = 64
    /// Indications of one client on one link that wait for the confirmation of an earlier indication.
    package var queuedIndications = 64
    /// Values on one link that wait to be sent in one notification.
    package var gatheredValues = 64
    /// Attribute handles of the services of one app: a quarter of all handles.
    ///
    /// The handles of a removed service count until the last link has ended. The limit does not apply to the program
    /// that contains the host.
    package var handlesOfApp = 16_384
    /// Published channels of one app: an eighth of all PSMs.
    ///
    /// The limit does not apply to the program that contains the host.
    package var publishedChannelsOfApp = 16
    /// Prepared writes of one peer.
    package var preparedParts = 128
    /// Enhanced ATT bearers of one link.
    package var enhancedBearers = 5
    /// The MTU that this host offers on a channel, in octets, 64 to 65535.
    package var channelMTU = 4096
    /// The MPS that this host offers on a channel, and the longest packet that this host sends, in octets, 64 to 65533.
    ///
    /// The default is the payload that fills one link-layer packet.
    package var channelPacket = 247
    /// Packets that the peer may send on a channel before the client has consumed any of them, 1 to 65535.
    package var channelCredits = 64
    /// Octets that a client may have queued on one channel.
    package var queuedChannelOctets = 1 << 20
    /// Attributes of one peer that the host stores during a link.
    package var discoveredAttributes = 16_384
    /// Attributes of one bonded peer that the host stores between links.
    package var cachedAttributes = 2048
    /// Octets of one attribute value.
    package var attributeLength = 512

    package init() {}
}

extension Limits {
    /// Creates the limits for a machine with this much memory, in octets.
    ///
    /// The host stores one received peer for each 16 KiB of memory, but no fewer than the default of ``advertisers``
    /// and no more than 262,144. The stored peers take 2 % of the memory if advertisements have 31 octets, and at most
    /// 4 %.
    package init(memory: Int) {
        self.init()
        advertisers = min(max(memory / 16_384, advertisers), 262_144)
    }
}
