package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/workflows"
)

// UserDeletion deletes users, with their workflows and histories.
type UserDeletion struct {
	Store   db.Store
	Threads *workflows.Client
	// Accounts disconnects connected accounts and revokes their access; nil: only the rows
	// are deleted.
	Accounts interface {
		DisconnectAll(ctx context.Context, owner string) error
	}
}

// temporalTimeout limits the check that Temporal is available.
const temporalTimeout = 2 * time.Second

// Delete lists on out the data of a user and, when confirmed, ends the user's workflows,
// deletes the data and lists what cannot be deleted. After an error, calling it again
// continues.
func (d UserDeletion) Delete(ctx context.Context, user string, confirmed bool, out io.Writer) error {
	if user == "" || user == chat.PublicOwner {
		return errors.New("a user id is required; public documents belong to no user")
	}
	data, err := d.Store.UserData(ctx, user)
	if err != nil {
		return err
	}
	if !confirmed {
		return say(out, "User %s has %s.\nNothing was removed. Run it again with --yes to remove all of it permanently.\n", user, describeData(data))
	}
	if err := d.checkTemporal(ctx); err != nil {
		return err
	}
	removed, histories, err := d.remove(ctx, user, d.Store.DeleteUser)
	if err != nil {
		return err
	}
	return say(out, "The data of user %s were removed: %s.\n%s%s", user, describeData(removed), histories, remains)
}

// Remove deletes all that is kept of a user. After an error, calling it again continues.
func (d UserDeletion) Remove(ctx context.Context, user string) error {
	if user == "" || user == chat.PublicOwner {
		return errors.New("a user id is required; public documents belong to no user")
	}
	if err := d.checkTemporal(ctx); err != nil {
		return err
	}
	_, _, err := d.remove(ctx, user, d.Store.DeleteUser)
	return err
}

// remove ends the user's workflows and deletes the data by deleteData. histories is a message for the
// operator about the histories in Temporal.
func (d UserDeletion) remove(ctx context.Context, user string, deleteData func(context.Context, string) (db.UserData, error)) (removed db.UserData, histories string, _ error) {
	data, err := d.Store.UserData(ctx, user)
	if err != nil {
		return db.UserData{}, "", err
	}
	// The workflows first, so that they do not write to deleted rows.
	if err := d.endWorkflows(ctx, data); err != nil {
		return db.UserData{}, "", err
	}
	if err := d.disconnect(ctx, user); err != nil {
		return db.UserData{}, "", err
	}
	if removed, err = deleteData(ctx, user); err != nil {
		return db.UserData{}, "", err
	}
	if err := d.endWorkflows(ctx, removed); err != nil { // workflows that were started meanwhile
		return db.UserData{}, "", err
	}
	removed.Connections = data.Connections
	return removed, d.forgetHistories(ctx, removed), nil
}

func (d UserDeletion) disconnect(ctx context.Context, user string) error {
	if d.Accounts == nil {
		return nil
	}
	if err := d.Accounts.DisconnectAll(ctx, user); err != nil {
		return fmt.Errorf("disconnect the user's accounts: %w", err)
	}
	return nil
}

// remains lists data that no command of Palaver can delete.
const remains = `What remains:
- the entries of the audit log about the user, with ids and addresses;
- of Temporal, what is in its archive, if it has one;
- the bare ids of the removed conversations, so that nothing is written under them again;
- in the database file and its index, freed space until it is written over; backups of it;
- logs, which hold ids but no message text, and traces, if they are sent anywhere;
- at Google, the permission of a connected account, if Google could not be asked to revoke it (the log says so);
- what was sent to providers of models and web search;
- the user's account with the identity provider: after the next sign-in it is an empty account.
`

func describeData(d db.UserData) string {
	return fmt.Sprintf("%d conversations with %d turns and %d messages, %d documents, %d document sets, %d profiles, %d pictures, %d message repositories, %d discovery boards, %d connected accounts, %d personal keys, %d shared links, %d rated answers, %d notes of cancelled turns",
		len(d.Threads), d.Turns, d.Messages, len(d.Documents), d.Sets, d.Profiles, d.Attachments, d.Repos, d.Boards, d.Connections, d.Keys, d.Shares, d.Feedback, d.Cancels)
}

func (d UserDeletion) checkTemporal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, temporalTimeout)
	defer cancel()
	if _, err := d.Threads.Temporal.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return fmt.Errorf("nothing was deleted: Temporal must be available, because workflows are ended first (TEMPORAL_ADDRESS): %w", err)
	}
	return nil
}

func (d UserDeletion) endWorkflows(ctx context.Context, data db.UserData) error {
	for _, id := range data.Threads {
		if err := d.Threads.Delete(ctx, id); err != nil {
			return fmt.Errorf("end the workflow of conversation %s: %w", id, err)
		}
	}
	for _, key := range data.Imports {
		if err := d.Threads.EndImport(ctx, key); err != nil {
			return fmt.Errorf("end the import %s: %w", key, err)
		}
	}
	for _, id := range data.Documents {
		if err := d.Threads.EndIngest(ctx, id); err != nil {
			return fmt.Errorf("end the ingest of document %s: %w", id, err)
		}
	}
	return nil
}

// forgetHistories deletes the histories of the workflows and returns a message for the
// operator. A server that does not permit it keeps them until its retention ends.
func (d UserDeletion) forgetHistories(ctx context.Context, data db.UserData) string {
	var ids []string
	for _, id := range data.Threads {
		ids = append(ids, workflows.ThreadWorkflowID(id))
	}
	for _, id := range data.Documents {
		ids = append(ids, workflows.IngestWorkflowID(id))
	}
	for _, key := range data.Imports {
		ids = append(ids, workflows.ImportWorkflowID(key))
	}
	for asked, id := range ids {
		if err := d.Threads.Forget(ctx, id); err != nil {
			return fmt.Sprintf("Temporal was asked to delete the histories of %d workflows; the others it keeps until the retention of namespace %s ends: %v\n", asked, d.Threads.Namespace, err)
		}
	}
	return fmt.Sprintf("Temporal was asked to delete the histories of %d workflows; any that it has not listed yet it keeps until the retention of namespace %s ends.\n", len(ids), d.Threads.Namespace)
}
